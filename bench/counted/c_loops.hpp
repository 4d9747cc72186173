// SPDX-License-Identifier: Apache-2.0
// The window loop through weft.h.
#pragma once

#include <cstdint>

namespace weft::bench {

/// The tags of these loops.
inline constexpr std::uint64_t counted_data = 1;
inline constexpr std::uint64_t counted_ack = 2;

struct c_windows {
  unsigned window;     ///< messages of 8 bytes
  unsigned windows;    ///< that are counted
  unsigned uncounted;  ///< before these
};

/// As run_counted. \param counted_side 0: the sender; 1: the receiver
void run_in_c(const c_windows& what, int counted_side);

}  // namespace weft::bench
