// SPDX-License-Identifier: Apache-2.0
#include "runtime/progress/caller_loop.hpp"

#include <optional>

namespace weft::runtime {

/// Passes until something comes, and completions with the progress lock released. A part of both
/// loops, without a call.
[[gnu::always_inline]] inline caller_loop::found caller_loop::step() noexcept {
  core_.enter();
  if (!core_.caller.polls) {
    core_.caller.polls = true;
    core_.phase.end();
  }
  // In empty passes the progress lock is kept, unless another thread asks for it: taking it costs
  // as much as a pass.
  unsigned events = 0;
  for (unsigned left = waits_.passes_in_turn(); left != 0; --left) {
    events = core_.pass();
    if (events != 0 || core_.completions.has_for_caller() || core_.lock.wanted()) break;
  }
  const bool handles_are_due = ++turns_ % turns_between_handles == 0;
  if (events == 0 || handles_are_due) core_.poll_caller_handles();
  if (handles_are_due) core_.poll_caller_waits();
  operation_list batch = core_.completions.take_for_caller();
  // A scope's destructor, deep inside a completion, may wait for the next operation of that batch.
  if (!batch.empty() || !completing_.empty()) {
    core_.go_to_user_code(core_.needs_passes());
    core_.leave_as_caller();
    complete_all(batch);
    busy_again();
    return found::something;
  }
  core_.leave_as_caller();
  if (core_.lock.wanted()) [[unlikely]]
    core_.lock.let_waiters_in();
  if (events == 0) return found::nothing;
  busy_again();
  return found::something;
}

void caller_loop::run_until(const std::atomic<bool>& done) noexcept {
  const detail::run_loop::inside here(self_);
  waits_.reset();
  while (!done.load(std::memory_order_acquire)) {
    if (step() == found::something) continue;
    switch (waits_.on_empty_polls()) {
      case wait_strategy::advice::look_around:
        poll_slow_sources();
        break;
      case wait_strategy::advice::sleep:
        sleep();
        break;
    }
  }
  go_away();
}

std::optional<time_point> caller_loop::turn(time_point until, bool others_wait) noexcept {
  const detail::run_loop::inside here(self_);
  for (unsigned busy = 0;;) {
    if (step() == found::something) {
      if (++busy % steps_between_clocks == 0 && std::chrono::steady_clock::now() >= until) break;
      continue;
    }
    if (waits_.on_empty_polls(others_wait) == wait_strategy::advice::sleep || awaits_nothing()) {
      core_.enter();
      const std::optional<time_point> deadline = gate_.arm_caller();
      core_.leave_as_caller();
      if (deadline) return deadline;
    } else {
      poll_slow_sources();
    }
    if (others_wait || std::chrono::steady_clock::now() >= until) break;
  }
  go_away();
  return std::nullopt;
}

/// Between two turns of another library's loop, no message is worth a busy core if no operation
/// waits for one.
bool caller_loop::awaits_nothing() noexcept {
  core_.enter();
  const bool nothing = core_.mode != progress_mode::polling && !core_.needs_passes();
  core_.leave_as_caller();
  return nothing;
}

void caller_loop::begin_again() noexcept {
  core_.enter();
  core_.end_due_timers();
  core_.leave();
  busy_again();
}

/// The end of a stay in the loop: from now on the caller counts as computing.
void caller_loop::go_away() noexcept {
  const progress_core::holder hold(core_);
  core_.caller.polls = false;
  core_.pollables.flush();
  if (core_.rings_soon) core_.wake_peers();
  core_.go_to_user_code(core_.needs_passes());
}

void caller_loop::complete_all(operation_list batch) noexcept {
  completing_.append(batch);
  if (core_.trace.on()) [[unlikely]]
    complete_in_tree();
  std::uint32_t completed = 0;
  for (; operation* op = completing_.pop(); ++completed) op->complete();
  core_.phase.note_stretches(completed);
  leadership_.notify_followers();
}

[[gnu::noinline, gnu::cold]] void caller_loop::complete_in_tree() noexcept {
  while (operation* op = completing_.pop()) {
    const runtime::step resuming(core_.trace.tree(), "resume");
    op->complete();
  }
}

/// Work that is too expensive for every pass: timers, peers that may have no polling thread,
/// descriptors.
void caller_loop::poll_slow_sources() noexcept {
  core_.enter();
  core_.end_due_timers();
  if (waits_.waits_long() || core_.rings_soon) core_.wake_peers();
  core_.poll_caller_waits();
  core_.leave_as_caller();
}

void caller_loop::sleep() noexcept {
  core_.enter();
  const std::optional<time_point> deadline = gate_.arm_caller();
  core_.leave_as_caller();
  if (!deadline) return;

  sleep_record slept{.began = core_.now()};
  slept.told = core_.caller_reactor->wait(*deadline);
  slept.ended = core_.now();
  core_.counters.add(slept);

  core_.enter();
  core_.trace.slice(trace::kind::caller_sleeps, slept.began, slept.ended, slept.told);
  core_.caller.polls = true;
  gate_.disarm_caller(slept.told != 0);
  core_.end_due_timers();
  if (slept.told != 0 && !core_.completions.has_for_caller() && !core_.pollables.any_has_work() &&
      !core_.flags.any_has_come())
    core_.counters.empty_wake_ups.fetch_add(1, std::memory_order_relaxed);
  core_.leave_as_caller();
}

/// Completions are for the leader, or for the next turn of an embedded loop. Another thread, or a
/// coroutine of this one, only moves messages; operations that end thereby are completed by the
/// leader's next poll.
unsigned caller_loop::poll_once() noexcept {
  const bool leads = !core_.caller.embedded && !core_.leads_here() && leadership_.try_take();
  unsigned events = 0;
  {
    const detail::run_loop::inside here(self_, leads);
    core_.enter();
    // Another thread inside run() polls for itself, as does a thread that sleeps by calls.
    if ((leads || core_.leads_here() || core_.caller.by_calls || core_.caller.embedded) &&
        !core_.caller.is_asleep())
      core_.poll_caller_handles();
    events = core_.pass();
    core_.pollables.flush();  // the next pass may be long in coming
    core_.end_due_timers();
    if (core_.wakeup_deferred) core_.wake_peers();
    if (core_.caller.is_asleep()) core_.pollables.arm();
    operation_list batch;
    if (leads) batch = core_.completions.take_for_caller();
    core_.leave();
    if (!batch.empty()) ++events;
    if (leads) complete_all(batch);
  }
  if (leads) leadership_.resign();
  return events;
}

}  // namespace weft::runtime
