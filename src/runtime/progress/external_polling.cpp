// SPDX-License-Identifier: Apache-2.0
#include "runtime/progress/external_polling.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include <weft/error.hpp>

#include "runtime/os/exit_gate.hpp"

namespace weft::runtime {

namespace {
// How often idle descriptors are polled while there are events, or while there is a progress
// thread, too.
constexpr unsigned polls_between_handles = 32;
// Poll interval of a thread that waits while another one sleeps in the wait set.
constexpr timespec short_nap{0, 100'000};
}  // namespace

void external_polling::begin() {
  exit_gate::expect_exit();
  const progress_core::holder hold(core_);
  if (core_.caller.embedded || !leadership_.try_take())
    throw error(
        errc::invalid_argument,
        "this context is inside run(), in an embedded loop or driven by calls already; it can "
        "be one of them");
  try {
    core_.sleep_in_epoll();
  } catch (...) {
    leadership_.resign();
    throw;
  }
  core_.caller.by_calls = true;
  core_.bell.act_on_ends(true);
}

void external_polling::end() noexcept {
  {
    const progress_core::holder hold(core_);
    core_.caller.by_calls = false;
    core_.bell.act_on_ends(false);
    core_.caller.polls_soon = false;
    if (core_.rings_soon) core_.wake_peers();
    if (core_.caller.is_asleep()) gate_.poll_and_disarm_caller();
  }
  leadership_.resign();
}

unsigned external_polling::poll(unsigned passes) noexcept {
  caller_state& caller = core_.caller;
  if (caller.is_asleep() && sleeper_ == detail::run_loop::thread_token()) [[unlikely]]
    gate_.poll_and_disarm_caller();
  const bool another_sleeps = caller.is_asleep();
  if (!another_sleeps) [[likely]] {
    caller.polls = true;
    caller.polls_soon = false;
    core_.phase.end();
  }
  caller.polls_by_calls.store(caller.polls_by_calls.load(std::memory_order_relaxed) + 1,
                              std::memory_order_relaxed);
  unsigned events = core_.pass();
  while (!core_.completions.has_home() && core_.completions.pending() != 0 && --passes != 0)
    events += core_.pass();
  moved_ = events != 0;
  if (!another_sleeps) {
    if ((events != 0 || core_.has_progress_thread) && ++polls_ % polls_between_handles == 0) {
      // Polls may go on to find events for as long as a transfer takes.
      if (events != 0 && core_.wakeup_deferred) core_.wake_peers();
      core_.poll_caller_handles();
      core_.poll_caller_waits();
    } else if (events == 0 && !core_.has_progress_thread) {
      core_.poll_caller_handles();
    }
  }
  core_.pollables.flush();
  core_.end_due_timers();
  unsigned ended = 0;
  for (operation_list batch = core_.completions.take_home(); operation* op = batch.pop(); ++ended)
    op->complete();
  if (!another_sleeps) [[likely]] {
    end_poll(ended);
  } else {
    core_.pollables.arm();  // no thread may poll here again for long
    if (ended != 0) core_.wake_caller();
  }
  return ended;
}

void external_polling::end_poll(unsigned ended) noexcept {
  if (ended != 0 || !core_.has_progress_thread) return core_.go_to_user_code(core_.needs_passes());
  core_.caller.polls = false;
  core_.caller.polls_soon = true;
  if (core_.phase.is_ticking() || !core_.needs_passes()) [[likely]]
    return;
  core_.phase.set_ticking(true);
  core_.wake_progress_thread();
}

wait_strategy::advice external_polling::back_off(idle_backoff& so_far, unsigned passes) noexcept {
  // A loop that yields makes one pass in a turn, and its next poll is microseconds away.
  so_far.count += so_far.others_run ? 1 : passes;
  if (so_far.waits.crowded()) so_far.after_poll();
  if (so_far.count < so_far.waits.passes_in_turn()) return wait_strategy::advice::look_around;
  so_far.count = 0;
  const wait_strategy::advice next = so_far.waits.on_empty_polls(so_far.others_run);
  poll_slow_sources(so_far.waits.waits_long());
  return next;
}

/// As in caller_loop, but several threads may call this.
void external_polling::poll_slow_sources(bool waits_long) noexcept {
  const progress_core::holder hold(core_);
  if (core_.caller.is_asleep()) return;  // the sleeping thread has done it
  core_.end_due_timers();
  if (waits_long || core_.rings_soon) core_.wake_peers();
  core_.poll_caller_waits();
}

std::optional<time_point> external_polling::arm(sleep_gate::condition over,
                                                void* argument) noexcept {
  const progress_core::holder hold(core_);
  if (core_.caller.is_asleep() && sleeper_ != detail::run_loop::thread_token()) return std::nullopt;
  sleeper_ = detail::run_loop::thread_token();
  return gate_.arm_caller(over, argument);
}

void external_polling::sleep_until(time_point when, sleep_gate::condition over,
                                   void* argument) noexcept {
  const std::optional<time_point> at_most = arm(over, argument);
  if (!at_most) {
    // Work is there; or another thread sleeps already, and this one polls for itself.
    if (core_.caller.is_asleep()) ::nanosleep(&short_nap, nullptr);
    return;
  }
  sleep_record slept{.began = core_.now()};
  slept.told = core_.caller_reactor->wait(std::min(*at_most, when));
  slept.ended = core_.now();
  core_.counters.add(slept);
  const progress_core::holder hold(core_);
  core_.trace.slice(trace::kind::caller_sleeps, slept.began, slept.ended, slept.told);
  gate_.disarm_caller(slept.told != 0);
}

}  // namespace weft::runtime
