// SPDX-License-Identifier: Apache-2.0
#include "proto/messenger/messenger.hpp"

#include <utility>

#include "proto/frames/frame_names.hpp"
#include "proto/messenger/message_errors.hpp"
#include "proto/select/select.hpp"

namespace weft::proto {

messenger::messenger(runtime::engine& e, messenger_settings s)
    : engine_(e),
      settings_(std::move(s)),
      posts_shortly_(!settings_.receiver_first),
      table_(settings_.hashed_tag_bits, settings_.secret()),
      memory_(settings_.unexpected_budget, settings_.fixed_credit, counts_, upkeep_),
      calls_(*this, settings_.calls_at_once),
      regions_(*this, e, settings_.secret),
      upkeep_(*this, e),
      peers_(*this, e) {}

messenger::~messenger() {
  const runtime::engine::holder hold(engine_);
  close_all();
}

/// The error for a receive or probe that would wait without end because no message can come; ok: it
/// may wait.
inline errc messenger::no_message(const peer* from) const noexcept {
  if (from) return from->gone() ? from->why() : errc::ok;
  return closed_ ? errc::closed : errc::ok;
}

/// The common part of receives and probes. `match` is called with a message that is there already.
template <class Match>
inline bool messenger::start_match(detail::match_operation& op, Match match) noexcept {
  if (op.cancel_requested) {
    op.status = errc::stopped;
    return true;
  }
  if (op.from && op.from->id() != op.from_id) {
    op.status = peers_.why_gone(op.from_id);
    return true;
  }
  if (inbound_message* m = table_.find(op.from, op.tag)) {
    table_.note_met(op);
    return match(*m);
  }
  if (const errc why = no_message(op.from); why != errc::ok) {
    op.status = why;
    return true;
  }
  table_.post(op);
  engine_.pending(op);
  return false;
}

bool messenger::start_held(recv_operation& op) noexcept {
  runtime::call_tree* const tree = engine_.trace().tree();
  const runtime::step receiving(tree, op.from ? "receive from" : "receive from any",
                                tree ? subject_of(op) : runtime::call_tree::subject{});
  if (op.on) op.special |= detail::match_operation::is_elsewhere;
  if (engine_.trace().on()) op.special |= detail::match_operation::is_traced;
  const bool ended =
      start_match(op, [&op](inbound_message& m) { return m.from->receiver().deliver(m, op); });
  if (settings_.receiver_first && op.queued && op.from) op.from->announce(op);
  return ended;
}

bool messenger::start(probe_operation& op) noexcept {
  const runtime::engine::holder hold(engine_);
  return start_held(op);
}

bool messenger::start_held(probe_operation& op) noexcept {
  return start_match(op, [&op](const inbound_message& m) {
    op.got = m.about();
    return true;
  });
}

void messenger::cancel(detail::match_operation& op) noexcept {
  const runtime::engine::holder hold(engine_);
  op.cancel_requested = true;
  if (op.queued) {
    take_back(op);
  } else if (!op.probe()) {
    if (inbound_message* m = static_cast<recv_operation&>(op).message)
      m->from->receiver().give_up(*m);
  }
}

bool messenger::withdraw(detail::match_operation& op) noexcept {
  const runtime::engine::holder hold(engine_);
  if (!op.queued) return false;
  take_back(op);
  return true;
}

/// Of a posted operation.
void messenger::take_back(detail::match_operation& op) noexcept {
  table_.withdraw(op);
  if (op.early()) op.from->early()->stopped(op);
  engine_.end(op, errc::stopped);
}

std::optional<received> messenger::try_probe(peer* from, tag_mask tag) noexcept {
  const runtime::engine::holder hold(engine_);
  const inbound_message* m = table_.find(from, tag);
  if (!m) return {};
  return m->about();
}

std::optional<claimed_message> messenger::try_claim(peer* from, tag_mask tag) noexcept {
  const runtime::engine::holder hold(engine_);
  inbound_message* const m = table_.find(from, tag);
  if (!m) return {};
  table_.remove(*m);
  table_.note_claim(from, tag);
  m->claimed = true;
  return claimed_message(*m, m->from, m->about());
}

bool messenger::start_held(claimed_operation& op, inbound_message*& claimed) noexcept {
  inbound_message* const m = std::exchange(claimed, nullptr);
  if (m && !op.cancel_requested) return m->from->receiver().deliver(*m, op);
  if (m) m->from->receiver().discard(*m);
  op.status = m ? errc::stopped : errc::invalid_argument;
  return true;
}

void messenger::discard(inbound_message& claimed, bool used) noexcept {
  const runtime::engine::holder hold(engine_);
  claimed.from->receiver().discard(claimed, used);
}

metrics messenger::snapshot() const {
  const runtime::engine::holder hold(engine_);
  metrics now = counts_;
  const runtime::engine_counters& e = engine_.counters();
  now.sleeps = e.sleeps.load();
  now.nanoseconds_asleep = e.nanoseconds_asleep.load();
  now.wake_ups = e.wake_ups.load();
  now.empty_wake_ups = e.empty_wake_ups.load();
  now.progress_iterations = e.progress_iterations.load();
  now.doorbells_rung = engine_.bells_rung();
  return now;
}

bool messenger::unsent() const noexcept {
  const runtime::engine::holder hold(engine_);
  return peers_.any_of([](peer& p) { return p.writer().unsent(); });
}

void messenger::begin_end() noexcept {
  const runtime::engine::holder hold(engine_);
  ending_ = true;
  sends_shortly_ = false;
  peers_.for_each([](peer& p) { p.sender().leave_short_path(); });
}

/// No other process takes what this process sends to itself.
bool messenger::owes() const noexcept {
  const runtime::engine::holder hold(engine_);
  if (calls_.served() != calls_.running()) return true;  // an answer that is about to be sent
  return peers_.any_of([this](const peer& p) { return !streams_.is_self(p.id()) && p.owes(); });
}

std::size_t messenger::give_up_debts(std::string_view why) noexcept {
  const runtime::engine::holder hold(engine_);
  std::size_t n = 0;
  peers_.for_each([&](peer& p) {
    if (streams_.is_self(p.id()) || !p.owes()) return;
    ++n;
    p.fail(errc::timed_out, why);
  });
  return n;
}

bool messenger::streams_linger() const noexcept {
  const runtime::engine::holder hold(engine_);
  return streams_.lingering != 0;
}

std::string messenger::describe(const peer& p) const {
  const runtime::engine::holder hold(engine_);
  return connector_ ? connector_->describe(p) : std::string();
}

void messenger::close_all() noexcept {
  closed_ = true;
  peers_.close();
  peers_.for_each([](peer& p) { p.fail(errc::closed, context_ended); });
  for (detail::match_operation *m = table_.take_posted(nullptr), *next = nullptr; m; m = next) {
    next = m->after;
    engine_.end(*m, errc::closed);
  }
  calls_.close();
  regions_.close();
  upkeep_.stop_sweeping();
  while (inbound_message* m = table_.any_unexpected(nullptr)) {
    table_.remove(*m);
    m->from->receiver().discard(*m);
  }
}

void messenger::fail_unconnected() noexcept {
  peers_.for_each([](peer& p) {
    if (p.now() == peer::state::connecting)
      p.fail(errc::out_of_memory, "no memory for a connection to it");
  });
}

}  // namespace weft::proto
