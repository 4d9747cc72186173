// SPDX-License-Identifier: Apache-2.0
// The plan that all processes get before they start, and the tags of their messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <weft/message.hpp>

namespace heat {

/// Rank 0 broadcasts it. All zero: there is nothing to compute.
struct plan {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t channels = 0;
  std::uint32_t steps = 0;
  float rate = 0;
  std::uint32_t processes = 0;

  /// The number of ranks that compute, from rank 0 on; at most the number of rows.
  std::uint32_t workers() const noexcept { return std::min(processes, height); }

  /// Worker w has the rows from first_row(w) to first_row(w + 1); the numbers of rows differ by at
  /// most one.
  std::size_t first_row(std::uint32_t worker) const noexcept {
    return std::size_t{height} * worker / workers();
  }
};

namespace tags {
inline constexpr weft::tag rows{1};       ///< rank 0 to a worker before, and back after
inline constexpr weft::tag upwards{2};    ///< a worker's first row, to the neighbour above
inline constexpr weft::tag downwards{3};  ///< a worker's last row, to the neighbour below
}  // namespace tags

}  // namespace heat
