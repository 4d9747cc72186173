// SPDX-License-Identifier: Apache-2.0
// How long a thread of an external loop has made empty polls.
#pragma once

#include <chrono>

#include "runtime/wait_set.hpp"
#include "runtime/wait_strategy.hpp"

namespace weft::runtime {

/// Owned by the thread, or the wait, that polls. Finds out whether the external loop gives the core
/// away between two polls: to yield here, too, would cost a turn of everybody else.
struct idle_backoff {
  explicit idle_backoff(wait_strategy::settings s) noexcept : waits(s) {}

  /// Something came.
  void reset() noexcept {
    waits.reset();
    count = 0;
  }
  /// Before a poll.
  void before_poll() noexcept {
    if (left == time_point{}) [[likely]]
      return;
    others_run = std::chrono::steady_clock::now() - left > longest_alone;
    left = {};
  }

  /// What a loop does between two empty polls takes less, unless it gives the core away.
  static constexpr std::chrono::nanoseconds longest_alone = std::chrono::microseconds{1};

  wait_strategy waits;
  unsigned count = 0;       ///< empty polls since waits was asked
  time_point left{};        ///< when the last empty poll was over; on a crowded host only
  bool others_run = false;  ///< the loop gives the core away, as was found out last
};

}  // namespace weft::runtime
