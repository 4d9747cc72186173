// SPDX-License-Identifier: Apache-2.0
// The loop of the thread inside run().
#pragma once

#include <atomic>

#include "runtime/leadership.hpp"
#include "runtime/progress_core.hpp"
#include "runtime/sleep_gate.hpp"
#include "runtime/wait_strategy.hpp"

namespace weft::runtime {

/// Polls, resumes coroutines between polls with the progress lock released, and sleeps when there
/// is nothing to do. Owned by the engine; used by the leader (leadership.hpp).
class caller_loop {
 public:
  caller_loop(detail::run_loop& self, progress_core& c, sleep_gate& g, leadership& l) noexcept
      : self_(self), core_(c), gate_(g), leadership_(l), waits_(c.waiting) {}

  /// Runs until `done`, which a completion sets. The calling thread leads, or enters again deeper
  /// in its own stack: a scope's destructor waits inside a completion.
  void run_until(const std::atomic<bool>& done) noexcept;

  /// One pass and, if no thread leads, its completions; without waiting.
  /// \return how many events were handled
  unsigned poll_once() noexcept;

 private:
  void complete_all(operation_list batch) noexcept;
  void poll_slow_sources() noexcept;
  void sleep() noexcept;
  void busy_again() noexcept {
    waits_.reset();
    empty_turns_ = 0;
  }

  // How often the caller polls descriptors while events or coroutines keep it busy.
  static constexpr unsigned turns_between_handles = 32;
  // How many turns are empty before the caller considers that a peer may have to be woken.
  static constexpr unsigned empty_turns_until_wake = 4;

  detail::run_loop& self_;
  progress_core& core_;
  sleep_gate& gate_;
  leadership& leadership_;
  wait_strategy waits_;
  operation_list completing_;  // taken out of the completion queue
  unsigned turns_ = 0;
  unsigned empty_turns_ = 0;  // since the last event
};

}  // namespace weft::runtime
