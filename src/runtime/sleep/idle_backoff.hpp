// SPDX-License-Identifier: Apache-2.0
// The empty polls of a thread of an external loop.
#pragma once

#include <chrono>

#include "runtime/sleep/wait_set.hpp"
#include "runtime/sleep/wait_strategy.hpp"

namespace weft::runtime {

/// Owned by the thread, or the wait, that polls. Finds out whether the external loop yields the
/// core between two polls: a yield by weft, too, would then cost a turn of every other thread.
struct idle_backoff {
  explicit idle_backoff(wait_strategy::settings s) noexcept : waits(s) {}

  /// An event came.
  void reset() noexcept {
    waits.reset();
    count = 0;
  }
  /// Called before a poll.
  void before_poll() noexcept {
    if (left == time_point{}) [[likely]]
      return;
    others_run = std::chrono::steady_clock::now() - left > longest_alone;
    left = {};
    untimed = others_run ? polls_between_clocks : 0;
  }
  /// Called after an empty poll on a crowded host. A loop that was seen to yield is timed now and
  /// then only.
  void after_poll() noexcept {
    if (untimed != 0) [[likely]]
      --untimed;
    else
      left = std::chrono::steady_clock::now();
  }

  /// A loop spends less time than this between two empty polls, unless it yields the core.
  static constexpr std::chrono::nanoseconds longest_alone = std::chrono::microseconds{1};

  static constexpr unsigned polls_between_clocks = 16;

  wait_strategy waits;
  unsigned count = 0;       ///< empty polls since the last call of `waits`
  time_point left{};        ///< when the last empty poll ended; on a crowded host only
  unsigned untimed = 0;     ///< polls until the next one that is timed
  bool others_run = false;  ///< the loop yields the core, as last measured
};

}  // namespace weft::runtime
