// SPDX-License-Identifier: Apache-2.0
// The device's events: counting, triggering, and waiting operations.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "transports/qdma/device/device.hpp"

namespace weft::transports::qdma {

using weft::qdma::trigger_operation;

namespace {

constexpr unsigned signals_per_pass = 64;

/// Another process's word for a failure; an unknown word is a broken rule.
errc status_of(std::uint32_t word) noexcept {
  return word <= static_cast<std::uint32_t>(errc::system) ? static_cast<errc>(word)
                                                          : errc::protocol_error;
}

}  // namespace

std::uint64_t device::make_event(std::uint64_t completions, bool repeat) {
  return events_.make(completions, repeat, segment_.probe_word());
}

void device::arm_event(std::uint64_t key, std::uint64_t completions) noexcept {
  counted_event* e = events_.find(key);
  if (!e) return;
  e->arm(completions);
  for (const vpid v : e->depends_on)
    if (!knows(v)) miss(*e, v);
  trigger(*e);
  if (runs_.any_ready()) engine_.look_after();
}

void device::hang(std::uint64_t key, chain_steps steps) {
  if (counted_event* e = events_.find(key)) e->chains.push_back(std::move(steps));
}

void device::depend(std::uint64_t key, vpid on) {
  counted_event* e = events_.find(key);
  if (!e) return;
  e->depends_on.push_back(on);
  if (knows(on)) return;
  miss(*e, on);
  trigger(*e);
}

/// How many completions of a lost peer are missing is unknown: the event triggers when it is armed.
void device::miss(counted_event& e, vpid who) noexcept {
  if (e.failed == errc::ok) {
    e.failed = errc::peer_lost;
    try {
      e.why = fmt::format("process {:#x}, on which the event depends, has ended", who);
    } catch (const std::exception&) {
      // No memory: the code tells most of it.
    }
  }
  e.arrived = std::max(e.arrived, e.wanted);
}

bool device::wait(trigger_operation& op) noexcept {
  counted_event* e = events_.find(op.event);
  if (closed_ || op.cancel_requested || !e) {
    op.status = closed_ ? errc::closed : e ? errc::stopped : errc::invalid_argument;
    return true;
  }
  if (e->triggers != 0 && e->waiting.empty()) {
    --e->triggers;
    op.status = std::exchange(e->untold, errc::ok);
    op.why = std::exchange(e->untold_why, {});
    return true;
  }
  e->waiting.push_back(&op);
  op.queued = true;
  engine_.pending(op);
  return false;
}

void device::cancel(trigger_operation& op) noexcept {
  op.cancel_requested = true;
  if (!op.queued) return;
  op.queued = false;
  if (counted_event* e = events_.find(op.event)) std::erase(e->waiting, &op);
  engine_.end(op, errc::stopped);
}

/// Counts a completion, from this process or another one.
void device::count(std::uint64_t key, std::uint32_t hops, errc failed,
                   const std::string& why) noexcept {
  counted_event* e = events_.find(key);
  if (!e) {
    ++refused_signals_;
    return;
  }
  ++e->arrived;
  e->hops = std::max(e->hops, hops);
  if (failed != errc::ok && e->failed == errc::ok) {
    e->failed = failed;
    try {
      e->why = why;
    } catch (const std::bad_alloc&) {
      // The code tells most of it.
    }
  }
  trigger(*e);
}

void device::trigger(counted_event& e) noexcept {
  while (e.take_trigger()) fire(e);
}

/// Starts chains first: the waiting coroutine may drop the event. A failure goes on along the
/// chains' signals.
void device::fire(counted_event& e) noexcept {
  for (const chain_steps& steps : e.chains) {
    run r;
    r.steps = steps;
    r.hops = e.hops + 1;
    r.failed = e.failed;
    try {
      r.why = e.why;
    } catch (const std::bad_alloc&) {
      // The code tells most of it.
    }
    add(std::move(r));
  }
  e.hops = 0;
  const errc failed = std::exchange(e.failed, errc::ok);
  std::string why = std::exchange(e.why, {});
  if (e.waiting.empty()) {
    ++e.triggers;
    if (failed == errc::ok) return;
    e.untold = failed;
    e.untold_why = std::move(why);
    return;
  }
  trigger_operation& op = *e.waiting.front();
  e.waiting.pop_front();
  op.queued = false;
  op.why = std::move(why);
  engine_.end(op, failed);
}

unsigned device::take_signals() noexcept {
  unsigned events = 0;
  queue_reader& own = queues_.signals();
  for (unsigned left = signals_per_pass; left != 0; --left) {
    const auto m = own.peek();
    if (!m) break;
    signal_body body{};
    const vpid from = m->from;
    const bool fits = m->bytes.size() == sizeof body;
    if (fits) std::memcpy(&body, m->bytes.data(), sizeof body);
    own.pop();
    ++events;
    // Signals of processes that were not met are refused.
    if (!fits || !knows(from)) {
      ++refused_signals_;
      continue;
    }
    const errc failed = status_of(body.status);
    std::string why;
    if (failed != errc::ok) {
      try {
        why = fmt::format("process {:#x} tells that a descriptor failed there: {}", from,
                          sentence_of(failed));
      } catch (const std::exception&) {
        // The code tells most of it.
      }
    }
    count(body.event, std::min(body.hops, 2 * most_hops), failed, why);
  }
  queues_.signals_taken();
  return events;
}

}  // namespace weft::transports::qdma
