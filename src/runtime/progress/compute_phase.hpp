// SPDX-License-Identifier: Apache-2.0
// The time that the caller spends in user code while operations are pending.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "runtime/progress/idle_predictor.hpp"

namespace weft::runtime {

class progress_core;

/// Records when the caller goes to compute and when it is back, and decides whether to ring for the
/// progress thread, which may find out by itself. Owned by progress_core. Progress lock held,
/// unless a member says otherwise. docs/threading.md; model: tests/models/computing.pml.
class compute_phase {
 public:
  explicit compute_phase(progress_core& c) noexcept : core_(c) {}

  /// The caller goes to user code while operations are pending or a pollable is busy.
  void begin() noexcept;
  /// The caller polls again.
  void end() noexcept;
  /// In this phase so many coroutines have run, one after the other. The thread inside run().
  void note_stretches(std::uint32_t n) noexcept { stretches_ = n; }
  /// There is new work that needs a polling thread: the caller computes, or sleeps.
  void wake_one_thread() noexcept;
  /// The progress thread ends timers from now on: wakes it for a timer that it would sleep through.
  void tell_of_timers() noexcept;

  /// The progress thread sleeps: frames that need a reaction wake it from now on, and every message
  /// does if coroutines on other executors wait.
  void listen() noexcept;
  void stop_listening() noexcept {
    if (!listens_) [[likely]]
      return;
    silence();
  }
  bool listens() const noexcept { return listens_; }

  /// Whether the thread inside run() probably polls again within microseconds; if it does not, the
  /// progress thread finds that out by itself. Then a ring for a frame that it posts, or for its
  /// own progress thread, can wait until it polls.
  bool ends_soon() const noexcept;
  /// The caller rang at once, a peer or its own progress thread. If this phase is short all the
  /// same, the next rings may wait.
  void rang_at_once() noexcept;

  /// Whether messages may come without a ring, or for coroutines that do not wait for the caller:
  /// then the progress thread has to learn that the caller computes.
  bool needs_progress_thread() const noexcept;
  /// Whether the progress thread, when it sees a phase for the first time, had better look again
  /// than take over: the phase is probably short, and nothing in it is the progress thread's alone.
  bool may_be_short() const noexcept;
  /// Whether the progress thread is needed, or was since the last call: for that thread.
  bool has_needed_progress_thread() noexcept {
    return std::exchange(needed_lately_, false) || needs_progress_thread();
  }

  // --- shared with the progress thread; any thread, without the lock ----------------------------

  /// Whether the progress thread finds out by itself that the caller computes.
  bool is_ticking() const noexcept { return ticks_.load(std::memory_order_relaxed); }
  void set_ticking(bool on) noexcept { ticks_.store(on, std::memory_order_relaxed); }
  /// The time until which the progress thread sleeps at most.
  detail::time_point progress_deadline() const noexcept {
    return progress_deadline_.load(std::memory_order_relaxed);
  }
  void set_progress_deadline(detail::time_point when) noexcept {
    progress_deadline_.store(when, std::memory_order_relaxed);
  }
  /// The progress thread found the caller computing.
  void saw_long() noexcept { predictor_.saw_long_phase(); }

 private:
  void silence() noexcept;
  void predicted_begins() noexcept;
  void predicted_ends() noexcept;

  progress_core& core_;
  idle_predictor predictor_;  // of the next phase
  std::uint32_t stretches_ = 0;
  bool needed_lately_ = false;  // the caller rang because no thread polled by itself
  bool listens_ = false;        // the progress thread sleeps, and every message rings for it
  std::atomic<bool> ticks_{false};
  std::atomic<detail::time_point> progress_deadline_{detail::time_point::min()};
};

}  // namespace weft::runtime
