// SPDX-License-Identifier: Apache-2.0
// Converts a point in time to a length of sleep.
#pragma once

#include <chrono>

#include "runtime/sleep/wait_set.hpp"

namespace weft::runtime {

/// A sleep without limit.
inline constexpr auto forever = std::chrono::nanoseconds::max();

/// How long to sleep until the deadline: zero once it has passed, `forever` for time_point::max().
inline std::chrono::nanoseconds remaining(time_point deadline) noexcept {
  if (deadline == time_point::max()) return forever;
  const time_point now = std::chrono::steady_clock::now();
  // Compared before it is subtracted: the distance to time_point::min() overflows.
  return deadline > now ? deadline - now : std::chrono::nanoseconds::zero();
}

}  // namespace weft::runtime
