// SPDX-License-Identifier: Apache-2.0
// Numbers that no peer knows or can guess.
#pragma once

#include <sys/random.h>

#include <cstdint>

#include <weft/error.hpp>

namespace weft::proto {

/// 64 random bits from the kernel. \throws weft::error (system)
inline std::uint64_t secret_word() {
  std::uint64_t word = 0;
  if (::getrandom(&word, sizeof word, 0) != static_cast<ssize_t>(sizeof word))
    throw error(errc::system, "the kernel has no random numbers (getrandom)");
  return word;
}

}  // namespace weft::proto
