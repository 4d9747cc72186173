// SPDX-License-Identifier: Apache-2.0
// The loop of the thread inside run(), and its turns in the loop of another library.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "runtime/lock/leadership.hpp"
#include "runtime/progress/progress_core.hpp"
#include "runtime/progress/sleep_gate.hpp"
#include "runtime/sleep/wait_strategy.hpp"

namespace weft::runtime {

/// Polls, resumes coroutines between polls with the progress lock released, and sleeps when there
/// is nothing to do. embedded_polling lets another library's loop do that in turns. Owned by the
/// engine; used by the leader (leadership.hpp).
class caller_loop {
 public:
  caller_loop(detail::run_loop& self, progress_core& c, sleep_gate& g, leadership& l) noexcept
      : self_(self), core_(c), gate_(g), leadership_(l), waits_(c.waiting) {}

  /// Runs until `done`, which a completion sets. The calling thread leads, or enters again deeper
  /// in its own stack: a scope's destructor waits inside a completion.
  void run_until(const std::atomic<bool>& done) noexcept;

  /// A part of the above, for the loop of another library: polls and resumes until `until`, or
  /// until it is better to sleep; then announces the sleep. The calling thread leads. \param
  /// others_wait returns after the first empty poll \return when sleep is better: until when at
  /// most; nothing: another turn is due
  std::optional<time_point> turn(time_point until, bool others_wait) noexcept;
  /// Before the first turn after a sleep.
  void begin_again() noexcept;

  /// One pass and, if no thread leads, its completions; without waiting.
  /// \return how many events were handled
  unsigned poll_once() noexcept;

 private:
  enum class found : std::uint8_t { nothing, something };

  found step() noexcept;
  void go_away() noexcept;
  bool awaits_nothing() noexcept;
  void complete_all(operation_list batch) noexcept;
  void complete_in_tree() noexcept;
  void poll_slow_sources() noexcept;
  void sleep() noexcept;
  void busy_again() noexcept { waits_.reset(); }

  // How often the caller polls descriptors while events or coroutines keep it busy.
  static constexpr unsigned turns_between_handles = 32;
  // How many steps with events a turn makes before it reads the clock.
  static constexpr unsigned steps_between_clocks = 8;

  detail::run_loop& self_;
  progress_core& core_;
  sleep_gate& gate_;
  leadership& leadership_;
  wait_strategy waits_;
  operation_list completing_;  // taken out of the completion queue
  unsigned turns_ = 0;
};

}  // namespace weft::runtime
