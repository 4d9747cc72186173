// SPDX-License-Identifier: Apache-2.0
#include "proto/messenger/pending.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "proto/messenger/message_errors.hpp"
#include "proto/messenger/messenger.hpp"
#include "proto/rma/rma.hpp"

namespace weft::proto {

namespace {

using detail::match_operation;

/// Those that are left out are not even made.
class bounded_lines {
 public:
  bounded_lines(pending_lines& to, std::size_t most) noexcept : to_(to), most_(most) {}

  template <class Make>
  void add(Make make) {
    if (to_.lines.size() < most_)
      to_.lines.push_back(make());
    else
      ++to_.left_out;
  }
  std::size_t count() const noexcept { return to_.lines.size() + to_.left_out; }

 private:
  pending_lines& to_;
  const std::size_t most_;
};

std::optional<std::uint64_t> own_tag_only(std::uint64_t tag) {
  return tag < first_reserved_tag ? std::optional(tag) : std::nullopt;
}

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

pending_line line_of(const match_operation& op, const pending_history& before,
                     detail::time_point now) {
  pending_line line{op.probe() ? "probe" : "receive", op.from ? op.from_id : no_peer};
  if (op.tag.exact()) line.tag = own_tag_only(op.tag.value);
  std::string text = describe(op) + purpose_of(op.tag.value);
  if (!op.probe() && !op.sized) {
    line.bytes = static_cast<const recv_operation&>(op).into.size();
    text += fmt::format(", {} bytes", *line.bytes);
  }
  text += ": no message has come";
  if (op.posted_at <= before.posted)
    text += fmt::format(", for at least {}", seconds(now - before.when));
  line.text = std::move(text);
  return line;
}

pending_line line_of(const inbound_message& m) {
  return {"receive", m.from->id(), own_tag_only(m.tag), m.total,
          fmt::format("{}{}: {} of {} bytes have come", describe(*m.receive), purpose_of(m.tag),
                      m.arrived, m.total)};
}

pending_line line_of(const send_operation& op, const std::string& state) {
  const std::size_t bytes = op.request.data.size();
  return {"send", op.request.to.id, own_tag_only(op.request.tag.value), bytes,
          fmt::format("{}{}, {} bytes: {}", describe(op), purpose_of(op.request.tag.value), bytes,
                      state)};
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
        return pending_line{"access",
                            op.order.to.id,
                            {},
                            size_of(op.order),
                            fmt::format("{}, {} bytes: waits for the target's answer", describe(op),
                                        size_of(op.order))};
      });
    });
  if (const calls_of_peer* const of = p.calls.get())
    of->made.for_each([&](const detail::call_operation& op) {
      if (&op != &of->abandoned)
        to.add([&] {
          return pending_line{"call",
                              op.to().id,
                              {},
                              {},
                              fmt::format("call of {}: no reply has come", describe(op))};
        });
    });
}

void add_unexpected(const peer& p, bounded_lines& to) {
  for (const inbound_message* m = p.unexpected.ordinary.first; m; m = m->of_peer_after)
    to.add([&] {
      return pending_line{
          "message", p.id(), own_tag_only(m->tag), m->total,
          fmt::format("{}, {} bytes: no receive has met it", describe(*m), m->total)};
    });
}

std::string text_of_connection(const messenger& m, const peer& p) {
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

pending_report look_at_pending(messenger& m, std::size_t most, pending_history& before) {
  const detail::time_point now = m.engine().now();
  pending_report all;
  bounded_lines operations(all.operations, most), messages(all.messages, most),
      connections(all.connections, most);

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
    if (p->now() != peer::state::idle)
      connections.add([&] {
        return pending_line{"connection", p->id(), {}, {}, text_of_connection(m, *p)};
      });
  }

  const std::uint64_t outstanding = m.engine().outstanding();
  all.others = std::max<std::uint64_t>(outstanding, operations.count()) - operations.count();
  all.served = m.calls().served();
  before = {m.matching().posted(), now};
  return all;
}

std::vector<std::string> texts_of(const pending_report& all) {
  std::vector<std::string> texts;
  const auto add = [&texts](const pending_lines& of, const char* kind) {
    for (const pending_line& line : of.lines) texts.push_back(line.text);
    if (of.left_out != 0) texts.push_back(fmt::format("and {} more {}", of.left_out, kind));
  };
  add(all.operations, "operations");
  if (all.others != 0)
    texts.push_back(fmt::format(
        "others (timers, descriptors, files, handlers, streams, regions): {}", all.others));
  if (all.served != 0)
    texts.push_back(fmt::format("calls of peers that are served: {}", all.served));
  add(all.messages, "messages that no receive has met");
  add(all.connections, "connections");
  return texts;
}

}  // namespace weft::proto
