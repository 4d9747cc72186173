// SPDX-License-Identifier: Apache-2.0
// For tests of copies by the kernel (CMA).
#pragma once

#include <unistd.h>

#include <cstdint>
#include <string>

#include "runtime/os/foreign_memory.hpp"
#include "support/skip.hpp"

namespace weft::tests {

/// Skips the test where the kernel, or an emulator of another processor, reads no other process's
/// memory. \return whether it did
inline bool skipped_without_cma() {
  const std::uint64_t word = 0x776f7264;
  const std::string why =
      runtime::try_foreign_memory(::getpid(), reinterpret_cast<std::uintptr_t>(&word), word);
  if (!why.empty()) skip(why);
  return !why.empty();
}

}  // namespace weft::tests
