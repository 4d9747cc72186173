// SPDX-License-Identifier: Apache-2.0
#include "runtime/progress/compute_phase.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>

#include "runtime/progress/progress_core.hpp"

namespace weft::runtime {

namespace {

/// What counts is the caller's own time. Another process, or the progress thread that was woken for
/// a prediction, may take the core in a phase: by the clock on the wall, a prediction would fulfil
/// itself. By calls, the caller may be another thread each time.
time_point own_time(const progress_core& core) noexcept {
  if (core.virtual_time || core.caller.by_calls) return core.now();
  timespec own{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
  return time_point(std::chrono::seconds(own.tv_sec) + std::chrono::nanoseconds(own.tv_nsec));
}

}  // namespace

void compute_phase::begin() noexcept {
  // A sleeping caller is rung for every message. It wakes up polling and would leave the word odd:
  // peers that have rung for that value would not ring again when the caller goes away later.
  if (core_.caller.is_asleep()) return;
  core_.caller.polls_soon = false;
  core_.bell.arm_computing(false);
  if (!core_.has_progress_thread) return;
  if (!needs_progress_thread()) return tell_of_timers();
  // On a crowded host a phase is also long because another process has the core, or the progress
  // thread that was woken for it.
  if (predictor_.predicts_long() && !core_.waiting.crowded) {
    predicted_begins();
    core_.wake_progress_thread();
  } else if (!is_ticking()) {
    needed_lately_ = true;
    core_.wake_progress_thread();
  } else {
    tell_of_timers();
  }
}

void compute_phase::predicted_begins() noexcept {
  if (!core_.leads_here() && !core_.caller.by_calls) return;
  stretches_ = 0;
  predictor_.begin(own_time(core_));
}

void compute_phase::predicted_ends() noexcept {
  predictor_.end(own_time(core_), std::max(stretches_, 1U));
}

bool compute_phase::may_be_short() const noexcept {
  return !core_.caller.by_calls && !predictor_.predicts_long() &&
         (needed_lately_ || needs_progress_thread()) && !core_.completions.has_background() &&
         !core_.completions.has_pending_elsewhere();
}

/// If the caller computes, and the progress thread finds that out by itself or is told now, that is
/// enough; but that thread may know already, and sleep.
void compute_phase::wake_one_thread() noexcept {
  if (core_.caller.is_asleep())
    core_.wake_caller();
  else if (!core_.bell.is_computing())
    begin();
  else if (core_.has_progress_thread && !ends_soon()) {
    rang_at_once();
    core_.wake_progress_thread();
  }
}

/// On a crowded host the ticks are rare.
bool compute_phase::ends_soon() const noexcept {
  return core_.leads_here() && is_ticking() && !predictor_.predicts_long() &&
         !core_.waiting.crowded;
}

/// A progress thread that was woken for a caller that is back already goes on to tick; no thread is
/// woken for that.
void compute_phase::rang_at_once() noexcept {
  if (!core_.has_progress_thread || !core_.leads_here()) return;
  needed_lately_ = true;
  if (predictor_.predicts_long() && !predictor_.has_begun()) predicted_begins();
}

void compute_phase::tell_of_timers() noexcept {
  if (core_.has_progress_thread && core_.timers.deadline() < progress_deadline())
    core_.wake_progress_thread();
}

/// A small message does not ring for a computing caller, which finds the message when it comes
/// back; but coroutines on other executors do not compute with it.
void compute_phase::listen() noexcept {
  const bool to_everything = core_.completions.has_pending_elsewhere();
  core_.bell.arm_computing(!to_everything);
  if (!to_everything) return;
  listens_ = true;
  core_.bell.arm_listening();  // its fence is for both words
  core_.note_state();
}

void compute_phase::silence() noexcept {
  listens_ = false;
  core_.bell.disarm_asleep();
  core_.note_state();
}

bool compute_phase::needs_progress_thread() const noexcept {
  return core_.completions.has_pending_elsewhere() || core_.completions.has_background() ||
         core_.pollables.any_busy() || core_.caller_reactor->expects_handles();
}

}  // namespace weft::runtime
