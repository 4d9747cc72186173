// SPDX-License-Identifier: Apache-2.0
// Pictures for tests.
#pragma once

#include <cstdint>

#include "picture.hpp"

namespace heat::tests {

/// Every sample differs from its neighbours; black and white are included.
inline picture pattern(std::uint32_t width, std::uint32_t height, std::uint32_t channels,
                       std::uint32_t maximum) {
  picture p{width, height, channels, maximum};
  std::uint32_t value = 0;
  for (std::uint32_t i = 0; i < width * height * channels; ++i) {
    p.samples.push_back(static_cast<std::uint16_t>(i == 1 ? maximum : value));
    value = (value + 7919) % (maximum + 1);
  }
  return p;
}

}  // namespace heat::tests
