// SPDX-License-Identifier: Apache-2.0
// The loops of `weft-bench ladder` over one way. Both sides call them at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ladder/way.hpp"

namespace weft::bench::ladder_command {

/// `count` messages there and back.
/// \param sequence of the stamp of the last message; is advanced
void round_trips(way& w, int rank, std::size_t size, std::size_t count, std::uint64_t& sequence);

/// `count` times `window` messages from side 0, then an answer; `sequence` as of round_trips.
void windows(way& w, int rank, std::size_t size, std::size_t window, std::size_t count,
             std::uint64_t& sequence);

}  // namespace weft::bench::ladder_command
