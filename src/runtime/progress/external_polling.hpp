// SPDX-License-Identifier: Apache-2.0
// Progress by calls: weft/external_loop.hpp.
#pragma once

#include <optional>

#include "runtime/lock/leadership.hpp"
#include "runtime/progress/progress_core.hpp"
#include "runtime/progress/sleep_gate.hpp"
#include "runtime/sleep/idle_backoff.hpp"

namespace weft::runtime {

/// A loop of another library polls, and no thread is inside run(). The loop does not tell when it
/// goes away to compute. After a poll with events, and after a posting call, it counts as
/// computing, as between the completions of run(). After an empty poll it is expected to poll again
/// soon, and the progress thread stays inactive. That thread counts polls meanwhile, every 0.1 to 1
/// ms, and becomes active when there were none. After that the next compute phase is predicted to
/// be long as well, and the thread is woken at once (compute_phase.hpp).
///
/// Owned by the engine. Any thread, unless a member says otherwise.
class external_polling {
 public:
  external_polling(progress_core& c, sleep_gate& g, leadership& l) noexcept
      : core_(c), gate_(g), leadership_(l) {}

  /// Begins external polling, until end(). \throws weft::error when a thread is inside run()
  void begin();
  void end() noexcept;

  /// For a thread that begins to poll.
  idle_backoff backoff() const noexcept { return idle_backoff(core_.waiting); }

  /// Makes one pass, or up to `passes` until an operation has ended while operations are pending;
  /// then calls `complete` on each that has ended, with the progress lock held. Progress lock held.
  /// \return how many operations have ended
  unsigned poll(unsigned passes = 1) noexcept;
  /// Whether the last poll moved frames; that need not have ended an operation. Progress lock held.
  bool moved() const noexcept { return moved_; }

  /// Background work, and what was posted to the home executor: to be completed by this thread
  /// without the progress lock, in which coroutines run. Progress lock held.
  operation_list take_coroutines() noexcept { return core_.completions.take_posted(); }

  /// Called after an empty poll, without the progress lock: now and then lets others have the core,
  /// and does work that is too expensive for every poll. \return what to do next
  wait_strategy::advice back_off(idle_backoff& so_far, unsigned passes = 1) noexcept;

  /// Announces that this thread is about to sleep until descriptor() is readable, and polls once
  /// more. Its next poll() takes the announcement back.
  /// \param over whether the awaited event has happened, called with the progress lock held; null:
  ///   the caller checks that by itself, afterwards
  /// \return until when the thread may sleep at most; nothing: not at all, poll again
  std::optional<time_point> arm(sleep_gate::condition over = nullptr,
                                void* argument = nullptr) noexcept;
  int descriptor() const noexcept { return core_.caller_reactor->set().descriptor(); }

  /// Arms and sleeps, at most until `when`. One thread at a time sleeps in this way; others only
  /// nap.
  void sleep_until(time_point when, sleep_gate::condition over, void* argument) noexcept;

 private:
  void end_poll(unsigned ended) noexcept;
  void poll_slow_sources(bool waits_long) noexcept;

  progress_core& core_;
  sleep_gate& gate_;
  leadership& leadership_;
  const void* sleeper_ = nullptr;  // the token of the thread that sleeps, or is about to
  bool moved_ = false;
  unsigned polls_ = 0;
};

}  // namespace weft::runtime
