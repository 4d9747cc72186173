// SPDX-License-Identifier: Apache-2.0
#include "proto/messenger/pending.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "proto/messenger/message_errors.hpp"
#include "proto/messenger/messenger.hpp"
#include "proto/rma/rma.hpp"

namespace weft::proto {

namespace {

using detail::match_operation;

/// The lines of one kind. Those that are left out are not even made.
class bounded_lines {
 public:
  explicit bounded_lines(std::size_t most) noexcept : most_(most) {}

  template <class Make>
  void add(Make make) {
    if (++count_ <= most_) lines_.push_back(make());
  }
  std::size_t count() const noexcept { return count_; }
  /// \param kind of what the lines are about, in the plural
  void move_to(std::vector<std::string>& all, const char* kind) {
    std::move(lines_.begin(), lines_.end(), std::back_inserter(all));
    if (count_ > most_) all.push_back(fmt::format("and {} more {}", count_ - most_, kind));
  }

 private:
  const std::size_t most_;
  std::size_t count_ = 0;
  std::vector<std::string> lines_;
};

/// What a tag of weft's own stands for; empty: it is the application's.
std::string purpose_of(std::uint64_t tag) {
  if (tag < first_reserved_tag || detail::is_group_tag(weft::tag{tag})) return {};
  const std::uint64_t group = group_of(tag);
  const std::string members = group == 0 ? "the world" : fmt::format("group {:#x}", group);
  if (is_group_message(tag)) return fmt::format(", collective {} of {}", sequence_of(tag), members);
  if (tag >= first_signal_tag) return fmt::format(", barrier of {}", members);
  return is_call(tag) ? ", of a call" : ", of a stream";
}

std::string seconds(std::chrono::nanoseconds time) {
  return fmt::format("{:.1f} s", std::chrono::duration<double>(time).count());
}

std::string line_of(const match_operation& op, const pending_history& before,
                    detail::time_point now) {
  std::string text = describe(op) + purpose_of(op.tag.value);
  if (!op.probe() && !op.sized)
    text += fmt::format(", {} bytes", static_cast<const recv_operation&>(op).into.size());
  text += ": no message has come";
  if (op.posted_at <= before.posted)
    text += fmt::format(", for at least {}", seconds(now - before.when));
  return text;
}

std::string line_of(const inbound_message& m) {
  return fmt::format("{}{}: {} of {} bytes have come", describe(*m.receive), purpose_of(m.tag),
                     m.arrived, m.total);
}

std::string line_of(const send_operation& op, const std::string& state) {
  return fmt::format("{}{}, {} bytes: {}", describe(op), purpose_of(op.request.tag.value),
                     op.request.data.size(), state);
}

/// Of the message that is being begun.
std::string state_of_first(const peer& p, const send_operation& op) {
  if (!op.begun &&
      !p.writer().flow().can_begin_message(op.request.mode == detail::send_mode::answer))
    return "waits for credit, which the receives of the peer return";
  return fmt::format("{} bytes have left, waits for room in the link", op.sent);
}

std::string state_of(const outbound_message& m) {
  if (m.putting) return "the link writes it to the receiver";
  return fmt::format("{} bytes have left{}", m.op->sent,
                     m.answer == frame_kind{} ? ", waits for the receiver's answer" : "");
}

void add_sends(const peer& p, bounded_lines& to) {
  const send_order& order = p.sender().order();
  const send_operation* const first = order.holder();
  if (first) to.add([&] { return line_of(*first, state_of_first(p, *first)); });
  p.sender().rendezvous().for_each([&](const outbound_message& m) {
    if (m.op != first) to.add([&] { return line_of(*m.op, state_of(m)); });
  });
  order.for_each_waiting([&](const send_operation& op) {
    to.add([&] {
      return line_of(op, p.now() == peer::state::open ? "waits for messages before it"
                                                      : "waits for the connection");
    });
  });
}

/// Besides messages that are pending with one peer.
void add_requests(const peer& p, bounded_lines& to) {
  if (const rma* const both = p.accesses())
    both->initiator.for_each([&](const detail::rma_operation& op) {
      to.add([&] {
        return fmt::format("{}, {} bytes: waits for the target's answer", describe(op),
                           size_of(op.order));
      });
    });
  if (const calls_of_peer* const of = p.calls.get())
    of->made.for_each([&](const detail::call_operation& op) {
      if (&op != &of->abandoned)
        to.add([&] { return fmt::format("call of {}: no reply has come", describe(op)); });
    });
}

void add_unexpected(const peer& p, bounded_lines& to) {
  for (const inbound_message* m = p.unexpected.ordinary.first; m; m = m->of_peer_after)
    to.add(
        [&] { return fmt::format("{}, {} bytes: no receive has met it", describe(*m), m->total); });
}

std::string line_of_connection(const messenger& m, const peer& p) {
  const std::string with = fmt::format("connection to {}: ", name_of(p.id()));
  if (p.now() == peer::state::connecting) return with + "is being made";
  if (p.has_ended())
    return with + (p.now() == peer::state::closed ? "closed" : fmt::format("lost: {}", p.detail()));
  const frame_writer::balance now = p.writer().credit_state();
  std::string text =
      fmt::format("{}open, {}; credit for {} bytes", with, m.connections().describe(p),
                  std::max<std::int64_t>(now.credit, 0) * credit_unit);
  if (now.waiting != 0) text += fmt::format("; {} control frames wait for room", now.waiting);
  return text;
}

}  // namespace

std::vector<std::string> describe_pending(messenger& m, std::size_t most, pending_history& before) {
  const detail::time_point now = m.engine().now();
  bounded_lines operations(most), messages(most), connections(most);

  std::vector<const match_operation*> posted;
  m.matching().for_each_posted([&](const match_operation& op) { posted.push_back(&op); });
  std::ranges::sort(posted, {}, &match_operation::posted_at);
  for (const match_operation* op : posted)
    operations.add([&] { return line_of(*op, before, now); });

  std::vector<const peer*> peers;
  m.peers().for_each([&](const peer& p) { peers.push_back(&p); });
  std::ranges::sort(peers, {}, &peer::id);
  for (const peer* p : peers) {
    p->receiver().for_each_under_way([&](const inbound_message& i) {
      if (i.receive) operations.add([&] { return line_of(i); });
    });
    add_sends(*p, operations);
    add_requests(*p, operations);
    add_unexpected(*p, messages);
    if (p->now() != peer::state::idle) connections.add([&] { return line_of_connection(m, *p); });
  }

  std::vector<std::string> all;
  operations.move_to(all, "operations");
  const std::uint64_t outstanding = m.engine().outstanding();
  if (outstanding > operations.count())
    all.push_back(fmt::format("others (timers, descriptors, files, handlers, streams, regions): {}",
                              outstanding - operations.count()));
  if (const std::uint32_t served = m.calls().served(); served != 0)
    all.push_back(fmt::format("calls of peers that are served: {}", served));
  messages.move_to(all, "messages that no receive has met");
  connections.move_to(all, "connections");
  before = {m.matching().posted(), now};
  return all;
}

}  // namespace weft::proto
