// SPDX-License-Identifier: Apache-2.0
#include "runtime/progress/sleep_gate.hpp"

namespace weft::runtime {

std::optional<time_point> sleep_gate::arm_caller(condition over, void* argument) noexcept {
  // The bell's event is consumed before the doorbell's `asleep` is made odd, never after: a peer
  // rings once for each value, and a wake-up for the new value that was consumed here would be its
  // only one.
  reactor& own = *core_.caller_reactor;
  if (own.poll() != 0) until_wake_ = shortest_until_wake;
  core_.dispatch_ready(own);
  core_.caller.asleep.store(true, std::memory_order_seq_cst);
  core_.flags.announce(true);
  core_.bell.arm_asleep();
  if (!core_.has_progress_thread) core_.waits.take_up(own.set());
  const bool is_over = over && over(argument);  // before the flush: it may send
  core_.pollables.flush();
  core_.end_due_timers();
  // Another thread's pass may have ended operations since this thread's, and saw no thread to wake.
  const bool work = is_over || core_.completions.has_for_caller() ||
                    core_.pollables.any_has_work() || core_.flags.any_has_come() ||
                    core_.waits.has_ended();
  const time_point deadline = std::min(core_.timers.deadline(), rings_again());
  if (work) {
    disarm_caller(false);
    return std::nullopt;
  }
  core_.pollables.arm();
  core_.caller.polls = core_.caller.polls_soon = false;
  core_.caller.deadline = deadline;
  core_.note_state();
  return deadline;
}

void sleep_gate::disarm_caller(bool told) noexcept {
  core_.caller.asleep.store(false, std::memory_order_relaxed);
  core_.bell.disarm_asleep();
  core_.flags.withdraw();
  if (told) until_wake_ = shortest_until_wake;
  core_.note_state();
  core_.dispatch_ready(*core_.caller_reactor);
}

std::optional<time_point> sleep_gate::arm_progress_thread(bool computes) noexcept {
  if (computes) {
    core_.flags.announce(false);
    core_.phase.listen();
    const bool work = core_.pollables.any_has_work() || core_.flags.any_has_come() ||
                      core_.completions.has_background();
    if (!work) {
      core_.pollables.arm();
      core_.progress_reactor->watch_handles();
    }
    const time_point deadline = std::min(core_.timers.deadline(), rings_again());
    return work ? std::nullopt : std::optional(deadline);
  }
  // A caller that sleeps or polls ends its timers itself, perhaps late: on a busy host it waits for
  // its core.
  const time_point timers = core_.caller.is_away() ? core_.timers.deadline() : time_point::max();
  return core_.wakeup_deferred ? std::min(timers, rings_again()) : timers;
}

/// A peer that was neither asleep nor computing when it was rung may have gone to compute since,
/// with a receive posted for a message in its ring: no thread polls there, and it rang no peer. A
/// side that waits here rings again, soon at first. \return when; time_point::max(): all is read
time_point sleep_gate::rings_again() noexcept {
  core_.wake_peers();
  if (!core_.pollables.any_has_unconsumed()) return time_point::max();
  const time_point again = core_.now() + until_wake_;
  until_wake_ = std::min(2 * until_wake_, longest_until_wake);
  return again;
}

}  // namespace weft::runtime
