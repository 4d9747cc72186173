// SPDX-License-Identifier: Apache-2.0
// The engine's progress thread: asleep while the caller looks, active while it is away.
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "runtime/engine.hpp"
#include "runtime/membarrier.hpp"
#include "runtime/own_thread.hpp"
#include "runtime/pause.hpp"

namespace weft::runtime {

namespace {

// In the middle of a transfer the other side answers within a microsecond or two; waiting for that
// is cheaper than a sleep and a ring. Longer would take the core from the application, and the turn
// that this thread has (below): who has used it up is not asleep when something comes, so nothing
// wakes it, and it waits until the application's turn is over, milliseconds.
constexpr std::chrono::nanoseconds longest_in_vain = std::chrono::microseconds{10};
constexpr int passes_between_clocks_in_vain = 16;

// Ten times the share of a thread of the application.
constexpr std::int32_t preferred_nice = -10;

/// Asks for short turns on the processor (0.1 ms), so that this thread gets its turn soon when all
/// cores compute (kernel 6.12, no privilege), and, where that is allowed, for a larger share while
/// it has something to do: a long copy beside a computing application would take twice its time.
/// Without either everything works, later. A program that runs under a policy of its own (real
/// time, batch) keeps it here too: a holder of the progress lock below the caller's priority would
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

// How often this thread looks whether the caller has gone away, at first and at most; and how soon
// again when it has just gone.
constexpr std::chrono::nanoseconds shortest_tick = std::chrono::microseconds{100};
constexpr std::chrono::nanoseconds longest_tick = std::chrono::milliseconds{1};
constexpr std::chrono::nanoseconds second_look = std::chrono::microseconds{20};

}  // namespace

void engine::start() {
  if (!has_progress_thread_) return;
  progress_ = start_own_thread("weft-progress", "progress thread", [this] { progress_loop(); });
}

void engine::stop() noexcept {
  stopping_.store(true);
  if (!progress_.joinable()) return;
  gate_.open_for_good();
  doorbell_.progress_bell().ring();
  progress_.join();
}

engine::~engine() {
  stop();
  while (ringing_.load(std::memory_order_acquire) != 0) cpu_pause();
  watches_.withdraw(has_progress_thread_ ? *progress_wait_ : *caller_wait_);
}

void engine::progress_loop() noexcept {
  ask_for_the_processor();
  time_point slept, woken, done;  // of the last turn, for the trace
  unsigned told = 0, passes = 0;
  for (gate_.begin_work(); !stopping_.load(std::memory_order_relaxed); gate_.pass()) {
    watches_.take_up(*progress_wait_);
    enter();
    trace_.slice(trace::kind::progress_sleeps, slept, woken, told);
    if (passes != 0) trace_.slice(trace::kind::progress_polls, woken, done, passes);
    tell(progress_handles_);
    const bool caller_computing =
        !caller_polls_ && !calls_soon_ && !caller_asleep_ && something_to_do();
    if (caller_computing) listen();
    const bool work = caller_computing && pollables_have_work();
    if (caller_computing && !work) watch_handles();
    // Nothing is left to do: the next operation counts as the beginning of a phase again. Peers
    // that have rung in it would not ring for the same value once more.
    if (!caller_computing && !caller_polls_) doorbell_.disarm_computing();
    // Also when no thread is needed for the moment: what is posted and ends again and again, as
    // reads of a stream do, would ring each time.
    const bool needed = std::exchange(needed_lately_, false) || needed_while_computing();
    ticks_.store(!caller_computing && !caller_asleep_ &&
                     (by_calls_ ? has_looked_lately() || calls_soon_ : needed),
                 std::memory_order_relaxed);
    const auto deadline =
        caller_computing || wakeup_deferred_ ? wake_peers_and_deadline() : next_deadline();
    progress_deadline_.store(deadline, std::memory_order_relaxed);
    leave();
    slept = woken = now();
    if (!work) {
      told = progress_sleeps(deadline);
      counters_.sleeps.fetch_add(1, std::memory_order_relaxed);
      counters_.wake_ups.fetch_add(told != 0 ? 1 : 0, std::memory_order_relaxed);
      woken = now();
      counters_.nanoseconds_asleep.fetch_add(static_cast<std::uint64_t>((woken - slept).count()),
                                             std::memory_order_relaxed);
    }
    passes = progress_active();
    done = now();
  }
  gate_.end_work();
}

/// The caller computes: what needs a reaction rings from now on. A small message does not, since
/// the caller finds it when it comes back; but coroutines that live elsewhere do not compute with
/// it. Progress lock held.
void engine::listen() noexcept {
  const bool to_everything = outstanding_elsewhere_ != 0;
  doorbell_.arm_computing(!to_everything);
  if (!to_everything) return;
  listens_ = true;
  doorbell_.arm_listening();  // its fence is for both words
}

/// The caller computes: what arrives on descriptors wakes this thread. Progress lock held.
void engine::watch_handles() noexcept {
  arm_pollables();
  for (handle_watcher& h : progress_handles_) {
    if (!h.worth_watching()) continue;
    try {
      h.watch();
    } catch (const error&) {
      // No memory for it: the caller looks when it comes back.
    }
  }
}

/// Sleeps until told, or until the caller seems to have gone away without a word.
unsigned engine::progress_sleeps(time_point deadline) noexcept {
  tick_ = shortest_tick;
  computing_at_last_tick_ = doorbell_.computing_word();
  std::chrono::nanoseconds next = tick_;
  for (;;) {
    const bool ticking = ticks_.load(std::memory_order_relaxed);
    const unsigned told = progress_waits(ticking ? std::min(deadline, now() + next) : deadline);
    if (told != 0 || !ticking || stopping_.load(std::memory_order_relaxed) || now() >= deadline ||
        tick_finds_computing())
      return told;
    next = !by_calls_ && (computing_at_last_tick_ & 1) != 0 ? second_look : tick_;
  }
}

/// The process may exit meanwhile.
unsigned engine::progress_waits(time_point deadline) noexcept {
  gate_.end_work();
  const unsigned told = progress_wait_->wait(deadline);
  gate_.begin_work();
  return told;
}

/// Without the progress lock, so that a caller that polls is not disturbed. Stops looking when
/// nothing happened since the last time: then the caller rings when it goes away (enter_computing).
/// Model: tests/models/computing.pml.
bool engine::tick_finds_computing() noexcept {
  if (by_calls_) return tick_finds_no_looks();
  const std::uint32_t word = doorbell_.computing_word();
  if (word != computing_at_last_tick_) {
    computing_at_last_tick_ = word;
    tick_ = std::min(2 * tick_, longest_tick);
    return false;
  }
  if ((word & 1) != 0) {
    predictor_.saw_long_phase();
    return true;
  }
  ticks_.store(false, std::memory_order_relaxed);
  // Either the caller sees that, or this sees that it went away. Without the fence of both it goes
  // on looking.
  if (!heavy_fence() || doorbell_.computing_word() != word)
    ticks_.store(true, std::memory_order_relaxed);
  tick_ = longest_tick;
  return false;
}

/// \return how many passes it made
unsigned engine::progress_active() noexcept {
  unsigned passes = 0;
  time_point since{};
  for (int vain = 0; !stopping_.load(std::memory_order_relaxed) && !gate_.is_closed();) {
    if (vain % passes_between_clocks_in_vain == 1) {
      const time_point here = now();
      if (vain == 1)
        since = here;
      else if (here - since > longest_in_vain)
        break;
    }
    if (!progress_lock_.try_take()) {
      ++vain;
      cpu_pause();
      continue;
    }
    stop_listening();
    tell(progress_handles_);
    if (caller_polls_ || calls_soon_ || caller_asleep_) {
      leave();
      break;
    }
    ++passes;
    const unsigned events = pass();
    end_due_timers();
    const bool nothing_outstanding = !something_to_do();
    if (vain % 64 == 63) wake_peers();
    leave();
    counters_.progress_iterations.fetch_add(1, std::memory_order_relaxed);
    vain = events != 0 ? 0 : vain + 1;
    if (events == 0 && nothing_outstanding) break;
    cpu_pause();
  }
  return passes;
}

}  // namespace weft::runtime
