// SPDX-License-Identifier: Apache-2.0
#include "runtime/progress/progress_thread.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "runtime/os/membarrier.hpp"
#include "runtime/os/own_thread.hpp"
#include "runtime/os/pause.hpp"

namespace weft::runtime {

namespace {

// In the middle of a transfer the other side answers within a microsecond or two; waiting for that
// is cheaper than a sleep and a ring. A longer wait would take the core from the application, and
// use up this thread's turn (below): a thread without a turn left is not asleep when an event
// comes, so no event wakes it, and it waits until the application's turn is over, milliseconds.
constexpr std::chrono::nanoseconds longest_empty = std::chrono::microseconds{10};
constexpr int passes_between_clocks = 16;
// How often this thread looks after descriptors while messages keep it busy.
constexpr unsigned passes_between_waits = 64;

// Ten times the share of a thread of the application.
constexpr std::int32_t preferred_nice = -10;

/// Asks for short turns on the processor (0.1 ms), so that this thread gets its turn soon when all
/// cores compute (kernel 6.12, no privilege), and, where that is allowed, for a larger share while
/// it has work: a long copy beside a computing application would take twice its time. Without
/// either all works, but later. A program with a scheduling policy of its own (real time, batch)
/// keeps it for this thread, too: a holder of the progress lock below the caller's priority would
/// never run.
void ask_for_the_processor() noexcept {
  if (sched_getscheduler(0) != SCHED_OTHER) return;
  struct {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
  } attributes{sizeof attributes, SCHED_OTHER, 0, preferred_nice, 0, 100'000, 0, 0};
  if (syscall(SYS_sched_setattr, 0, &attributes, 0) == 0) return;
  attributes.nice = 0;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

// The time between two ticks, at first and at most; and the time to the next tick when the caller
// has just gone to compute.
constexpr std::chrono::nanoseconds shortest_tick = std::chrono::microseconds{100};
constexpr std::chrono::nanoseconds longest_tick_alone = std::chrono::milliseconds{1};
// On a crowded host a caller that does not poll may just wait for its core, and each tick takes the
// core from a process in the middle of its turn.
constexpr std::chrono::nanoseconds tick_when_crowded = std::chrono::milliseconds{4};
constexpr std::chrono::nanoseconds second_tick = std::chrono::microseconds{20};

}  // namespace

void progress_thread::start() {
  if (core_.has_progress_thread)
    thread_ = start_own_thread("weft-progress", "progress thread", [this] { loop(); });
}

void progress_thread::stop() noexcept {
  stopping_.store(true);
  if (!thread_.joinable()) return;
  exit_gate_.open_for_good();
  core_.bell.progress_bell().ring();
  thread_.join();
}

void progress_thread::loop() noexcept {
  ask_for_the_processor();
  reactor& own = *core_.progress_reactor;
  sleep_record slept;  // of the last turn, for the trace
  time_point done;
  unsigned passes = 0;
  for (exit_gate_.begin_work(); !stopping_.load(std::memory_order_relaxed); exit_gate_.pass()) {
    core_.waits.take_up(own.set());
    core_.enter();
    core_.trace.slice(trace::kind::progress_sleeps, slept.began, slept.ended, slept.told);
    if (passes != 0) core_.trace.slice(trace::kind::progress_polls, slept.ended, done, passes);
    core_.dispatch_ready(own);
    const bool away = core_.caller.is_away() && core_.needs_passes();
    const bool computes = away && !may_be_short();
    phase_seen_ = core_.bell.computing_word();
    const std::optional<time_point> deadline = sleep_gate_.arm_progress_thread(computes);
    // No work is left: the next operation counts as the beginning of a phase again. Peers that have
    // rung in this phase would not ring once more for the same value.
    if (!away && !core_.caller.polls) core_.bell.disarm_computing();
    set_ticking(computes);
    core_.phase.set_progress_deadline(deadline.value_or(core_.timers.deadline()));
    core_.leave();
    slept.began = slept.ended = core_.now();
    if (deadline) {
      slept.told = sleep(*deadline);
      slept.ended = core_.now();
      core_.counters.add(slept);
    }
    passes = poll_for_caller();
    done = core_.now();
  }
  exit_gate_.end_work();
}

/// A phase that this thread has not seen before. If it lasts, the next tick finds it. To take over
/// costs both threads more than a short phase takes, above all where they share a core: there this
/// thread can only run when it has taken the core from the caller, in whatever phase that was.
/// Progress lock held.
bool progress_thread::may_be_short() const noexcept {
  return core_.bell.computing_word() != phase_seen_ && core_.phase.may_be_short();
}

/// Ticks also when no thread is needed for the moment: operations that are posted and end again and
/// again, as reads of a stream do, would ring each time. Progress lock held.
void progress_thread::set_ticking(bool computes) noexcept {
  const caller_state& caller = core_.caller;
  const bool needed = core_.phase.has_needed_progress_thread();
  core_.phase.set_ticking(!computes && !caller.is_asleep() &&
                          (caller.by_calls ? has_polled_lately() || caller.polls_soon : needed));
}

std::chrono::nanoseconds progress_thread::longest_tick() const noexcept {
  return core_.waiting.crowded ? tick_when_crowded : longest_tick_alone;
}

/// Sleeps until a bell or a descriptor wakes it, or until the caller seems to have gone to compute
/// without a ring.
unsigned progress_thread::sleep(time_point deadline) noexcept {
  tick_ = core_.waiting.crowded ? tick_when_crowded : shortest_tick;
  computing_at_last_tick_ = core_.bell.computing_word();
  const auto computed = [this] {
    return !core_.caller.by_calls && (computing_at_last_tick_ & 1) != 0;
  };
  std::chrono::nanoseconds next = computed() ? second_tick : tick_;
  for (;;) {
    const bool ticking = core_.phase.is_ticking();
    const unsigned told = wait(ticking ? std::min(deadline, core_.now() + next) : deadline);
    if (told != 0 || !ticking || stopping_.load(std::memory_order_relaxed) ||
        core_.now() >= deadline || tick_finds_computing())
      return told;
    // Once, not after each change: a caller with many short phases is nearly always in one.
    next = next != second_tick && computed() ? second_tick : tick_;
  }
}

/// The process may exit during the wait. Waits for descriptors that begin or end do not end it, and
/// are handled without the progress lock, which a polling caller holds most of the time.
/// \return how many bells and handles were found readable
unsigned progress_thread::wait(time_point deadline) noexcept {
  for (;;) {
    exit_gate_.end_work();
    unsigned told = core_.progress_reactor->wait(deadline);
    exit_gate_.begin_work();
    const bool only_waits = serve_waits(told);
    if (!only_waits || stopping_.load(std::memory_order_relaxed)) return told;
  }
}

/// Ends the waits for descriptors that are ready, and takes up new ones. \param told how many
/// watchers the wait set called; afterwards without those of such waits
/// \return whether there was nothing else
bool progress_thread::serve_waits(unsigned& told) noexcept {
  const unsigned ready = core_.waits.take_ready_count();
  told -= std::min(told, ready);
  const bool changed = core_.waits.has_news();
  core_.waits.take_up(core_.progress_reactor->set());
  core_.waits.end_waits();
  return told == 0 && (ready != 0 || changed);
}

/// Without the progress lock, so that a polling caller is not disturbed. Stops ticking when nothing
/// happened since the last tick: then the caller rings when it goes to compute
/// (compute_phase::begin). Model: tests/models/computing.pml.
bool progress_thread::tick_finds_computing() noexcept {
  if (core_.caller.by_calls) return tick_finds_no_polls();
  const std::uint32_t word = core_.bell.computing_word();
  if (word != computing_at_last_tick_) {
    computing_at_last_tick_ = word;
    tick_ = std::min(2 * tick_, longest_tick());
    return false;
  }
  if ((word & 1) != 0) {
    core_.phase.saw_long();
    return true;
  }
  core_.phase.set_ticking(false);
  // Either the caller sees this change, or this thread sees that the caller went to compute. Where
  // the fence for both is refused, it goes on ticking.
  if (!heavy_fence() || core_.bell.computing_word() != word) core_.phase.set_ticking(true);
  tick_ = longest_tick();
  return false;
}

/// Whether there were polls since the last call. Progress lock held, or on this thread.
bool progress_thread::has_polled_lately() noexcept {
  const std::uint32_t before = polls_at_last_tick_;
  polls_at_last_tick_ = core_.caller.polls_by_calls.load(std::memory_order_relaxed);
  return polls_at_last_tick_ != before;
}

/// Without the progress lock while there are polls, so that they are not disturbed.
bool progress_thread::tick_finds_no_polls() noexcept {
  if (has_polled_lately()) {
    tick_ = std::min(2 * tick_, longest_tick());
    return false;
  }
  // The holder of the lock makes progress: perhaps a long copy, in one poll.
  if (!core_.lock.try_take()) return false;
  core_.caller.polls_soon = false;
  // A sleeping thread does not poll either, and is rung for messages: that is no sign of computing.
  if (!core_.caller.is_asleep()) core_.phase.saw_long();
  core_.leave();
  return true;
}

/// Polls until the caller is back, or passes have been empty for a while. \return how many passes
unsigned progress_thread::poll_for_caller() noexcept {
  unsigned passes = 0;
  time_point since{};
  for (int empty = 0; !stopping_.load(std::memory_order_relaxed) && !stands_still();) {
    if (empty % passes_between_clocks == 1) {
      const time_point here = core_.now();
      if (empty == 1)
        since = here;
      else if (here - since > longest_empty)
        break;
    }
    if (!core_.lock.try_take()) {
      ++empty;
      cpu_pause();
      continue;
    }
    core_.phase.stop_listening();
    core_.dispatch_ready(*core_.progress_reactor);
    if (!core_.caller.is_away() || may_be_short()) {
      core_.leave();
      break;
    }
    core_.flags.withdraw();
    ++passes;
    if (core_.rings_soon) core_.wake_peers();
    unsigned events = core_.pass();
    core_.end_due_timers();
    const bool idle = !core_.needs_passes();
    if (empty % 64 == 63) core_.wake_peers();
    operation_list work = core_.completions.take_background();
    core_.leave();
    core_.counters.progress_iterations.fetch_add(1, std::memory_order_relaxed);
    for (; operation* const op = work.pop(); ++events) {
      const step resuming(core_.trace.tree(), "resume");
      op->complete();
    }
    if (passes % passes_between_waits == 0) {
      unsigned told = core_.progress_reactor->poll();
      serve_waits(told);
    }
    empty = events != 0 ? 0 : empty + 1;
    if (events == 0 && idle) break;
    cpu_pause();
  }
  return passes;
}

}  // namespace weft::runtime
