// SPDX-License-Identifier: Apache-2.0
// The results of the overlap patterns, and their output: the same for every contestant.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "output/json_lines.hpp"

namespace weft::bench {

inline constexpr std::size_t overlap_warm_up = 3;
inline constexpr int slow_down_steps = 5;

/// Samples of each kind; one takes a little more than the compute time.
constexpr std::size_t overlap_repetitions(double effort) {
  return std::max<std::size_t>(5, static_cast<std::size_t>(15 * effort));
}

struct overlap_samples {
  std::vector<double> transfer_us;  ///< the wait without computation
  std::vector<double> wait_us;      ///< the wait with computation
};

/// Has wait_us, transfer_us and excess_us (wait - transfer), and the percentiles of the wait.
json overlap_line(const line_head& head, const std::string& pattern, double compute_us,
                  const overlap_samples& samples);

/// Microseconds for each step of the application, one sample of each kind taken right after the
/// other.
struct slow_down_samples {
  std::vector<double> alone_us;          ///< it computes without messages
  std::vector<double> with_messages_us;  ///< it computes while messages flow
  std::vector<double>
      only_messages_us;  ///< the same messages while it waits for them: the copy time
};

/// Has slow_down (with / alone - 1) and beyond_copy ((with - alone - only) / alone, below zero with
/// overlap), which is the cost of the messages beyond their copies. The percentiles are of
/// with_messages_us.
json slow_down_line(const line_head& head, const slow_down_samples& samples);

}  // namespace weft::bench
