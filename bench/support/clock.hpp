// SPDX-License-Identifier: Apache-2.0
// The one clock of all measurements. CLOCK_MONOTONIC is common to all processes of a host, so times
// of two processes may be subtracted from each other.
#pragma once

#include <chrono>
#include <cstdint>

namespace weft::bench {

/// Nanoseconds of the steady clock. Any thread; about 20 ns a call, so measure batches, not single
/// messages.
inline std::int64_t now_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Microseconds from `start_ns` to `end_ns`.
constexpr double us_between(std::int64_t start_ns, std::int64_t end_ns) noexcept {
  return static_cast<double>(end_ns - start_ns) / 1e3;
}

}  // namespace weft::bench
