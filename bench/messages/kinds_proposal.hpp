// SPDX-License-Identifier: Apache-2.0
// Whether streaming stores help on this machine, and from which size of a piece on.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace weft::bench {

/// The times with streaming stores in those with ordinary ones, for messages of one size.
struct stores_ratios {
  std::size_t size;
  std::vector<double> times;  ///< of each measurement: there and back, windows
};

/// Streaming stores are proposed from the smallest size on from which no measurement takes
/// noticeably longer with them, and at each size one takes noticeably less.
/// \param measured sizes in ascending order \return nothing: ordinary stores
inline std::optional<std::size_t> propose_streamed_from(
    const std::vector<stores_ratios>& measured) {
  constexpr double longer = 1.03, less = 0.95;
  std::optional<std::size_t> from;
  for (auto at = measured.rbegin(); at != measured.rend(); ++at) {
    bool helps = false;
    for (const double time : at->times) {
      if (time > longer) return from;
      helps = helps || time < less;
    }
    if (!helps) return from;
    from = at->size;
  }
  return from;
}

}  // namespace weft::bench
