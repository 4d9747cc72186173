// SPDX-License-Identifier: Apache-2.0
#include "proto/messenger/receives.hpp"

#include <utility>

#include "proto/frames/frame_names.hpp"
#include "proto/match/match.hpp"
#include "proto/peer/peer_registry.hpp"

namespace weft::proto {

/// The error for a receive or probe that would wait without end because no message can come; ok: it
/// may wait.
inline errc receives::no_message(const peer* from) const noexcept {
  if (from) return from->has_ended() ? from->why() : errc::ok;
  return closed_ ? errc::closed : errc::ok;
}

/// The common part of receives and probes. `match` is called with a message that is there already.
template <class Match>
inline bool receives::start_match(detail::match_operation& op, Match match) noexcept {
  if (op.cancel_requested) {
    op.status = errc::stopped;
    return true;
  }
  if (op.from && op.from->id() != op.from_id) {
    op.status = peers_.why_ended(op.from_id);
    return true;
  }
  if (inbound_message* m = services_.matcher.find(op.from, op.tag)) {
    services_.matcher.note_met(op);
    return match(*m);
  }
  if (const errc why = no_message(op.from); why != errc::ok) {
    op.status = why;
    return true;
  }
  services_.matcher.post(op);
  services_.engine.pending(op);
  return false;
}

bool receives::start_held(recv_operation& op) noexcept {
  runtime::call_tree* const tree = services_.engine.trace().tree();
  const runtime::step receiving(tree, op.from ? "receive from" : "receive from any",
                                tree ? subject_of(op) : runtime::call_tree::subject{});
  if (op.on) op.special |= detail::match_operation::is_elsewhere;
  if (services_.engine.trace().on()) op.special |= detail::match_operation::is_traced;
  return start_match(op, [&op](inbound_message& m) { return m.from->receiver().deliver(m, op); });
}

bool receives::start(probe_operation& op) noexcept {
  const runtime::engine::holder hold(services_.engine);
  return start_held(op);
}

bool receives::start_held(probe_operation& op) noexcept {
  return start_match(op, [&op](const inbound_message& m) {
    op.got = m.about();
    return true;
  });
}

void receives::cancel(detail::match_operation& op) noexcept {
  const runtime::engine::holder hold(services_.engine);
  op.cancel_requested = true;
  if (op.queued) {
    take_back(op);
  } else if (!op.probe()) {
    if (inbound_message* m = static_cast<recv_operation&>(op).message)
      m->from->receiver().give_up(*m);
  }
}

bool receives::withdraw(detail::match_operation& op) noexcept {
  const runtime::engine::holder hold(services_.engine);
  if (!op.queued) return false;
  take_back(op);
  return true;
}

/// Of a posted operation.
void receives::take_back(detail::match_operation& op) noexcept {
  services_.matcher.withdraw(op);
  services_.engine.end(op, errc::stopped);
}

std::optional<received> receives::try_probe(peer* from, tag_mask tag) noexcept {
  const runtime::engine::holder hold(services_.engine);
  const inbound_message* m = services_.matcher.find(from, tag);
  if (!m) return {};
  return m->about();
}

std::optional<claimed_message> receives::try_claim(peer* from, tag_mask tag) noexcept {
  const runtime::engine::holder hold(services_.engine);
  inbound_message* const m = services_.matcher.find(from, tag);
  if (!m) return {};
  services_.matcher.remove(*m);
  services_.matcher.note_claim(from, tag);
  m->claimed = true;
  return claimed_message(*m, m->from, m->about());
}

bool receives::start_held(claimed_operation& op, inbound_message*& claimed) noexcept {
  inbound_message* const m = std::exchange(claimed, nullptr);
  if (m && !op.cancel_requested) return m->from->receiver().deliver(*m, op);
  if (m) m->from->receiver().discard(*m);
  op.status = m ? errc::stopped : errc::invalid_argument;
  return true;
}

bool receives::ends_at_once(const inbound_message* claimed) noexcept {
  return claimed && claimed->ready(claimed->from->has_ended());
}

void receives::discard(inbound_message& claimed, bool used) noexcept {
  const runtime::engine::holder hold(services_.engine);
  claimed.from->receiver().discard(claimed, used);
}

void receives::close() noexcept {
  closed_ = true;
  detail::match_operation* m = services_.matcher.take_posted(nullptr);
  for (detail::match_operation* next = nullptr; m; m = next) {
    next = m->after;
    services_.engine.end(*m, errc::closed);
  }
}

}  // namespace weft::proto
