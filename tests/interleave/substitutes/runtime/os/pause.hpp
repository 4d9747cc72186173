// SPDX-License-Identifier: Apache-2.0
// Replaces src/runtime/os/pause.hpp: a spinning thread goes on when another thread has changed
// something.
#pragma once

#include "scheduler.hpp"

namespace weft::runtime {

inline void cpu_pause() noexcept { interleave::wait_for_change(); }
inline void prefetch_for_write(const void*) noexcept {}

}  // namespace weft::runtime
