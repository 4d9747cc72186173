// SPDX-License-Identifier: Apache-2.0
// Bytes that tell when one of them is missing, or is another's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::tests {

using bytes = std::vector<std::byte>;

inline bytes pattern(std::size_t size, std::uint64_t seed = 1) {
  bytes b(size);
  for (std::byte& one : b)
    one = static_cast<std::byte>((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 56);
  return b;
}

}  // namespace weft::tests
