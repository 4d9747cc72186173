// SPDX-License-Identifier: Apache-2.0
// Times of the other side, as times of this side's clock.
#pragma once

#include <cstdint>

#include "stage/stage.hpp"

namespace weft::bench {

/// How far the other side's clock is ahead of this one's, in nanoseconds: 0 if they are known to be
/// one clock, else the estimate of the fastest of some round trips, which is wrong by half of its
/// time at most. Clocks of two hosts drift: ask again before each repetition. The other side calls
/// `show_clock` meanwhile.
task<std::int64_t> ask_clock(const side& me);
task<void> show_clock(const side& me);

}  // namespace weft::bench
