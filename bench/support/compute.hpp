// SPDX-License-Identifier: Apache-2.0
// An application that computes: arithmetic in registers, no memory, no system calls, no calls into
// any library.
#pragma once

#include <algorithm>
#include <cstdint>

#include "support/clock.hpp"

namespace weft::bench {

/// Does `units` units of work: the same work each time, so its time shows other uses of the core.
inline void compute_units(std::uint64_t units) noexcept {
  std::uint64_t x = units | 1;
  for (std::uint64_t i = 0; i < units; ++i) {
    for (int step = 0; step < 64; ++step) x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    asm volatile("" : "+r"(x));  // keeps the compiler from removing the computation
  }
}

/// Computes until `us` microseconds have passed, with any amount of work.
inline void compute_for_us(double us) noexcept {
  const auto end = now_ns() + static_cast<std::int64_t>(us * 1e3);
  while (now_ns() < end) compute_units(16);
}

/// Units of work that this core does in a microsecond without disturbance (the best of several
/// tries).
inline double units_per_us() noexcept {
  constexpr std::uint64_t units = 20'000;
  double best = 0;
  for (int i = 0; i < 7; ++i) {
    const auto start = now_ns();
    compute_units(units);
    best = std::max(best, static_cast<double>(units) / us_between(start, now_ns()));
  }
  return best;
}

}  // namespace weft::bench
