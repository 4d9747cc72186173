// SPDX-License-Identifier: Apache-2.0
// Replaces src/runtime/os/nap.hpp: a thread naps until another one has changed something.
#pragma once

#include <chrono>
#include <cstdint>

#include "scheduler.hpp"

namespace weft::runtime {

template <class Word>
void nap(const Word&, std::uint32_t, std::chrono::nanoseconds) noexcept {
  interleave::wait_for_change();
}

template <class Word>
void end_naps(Word&) noexcept {}

}  // namespace weft::runtime
