// SPDX-License-Identifier: Apache-2.0
// Bytes as hexadecimal text, for expectations.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace weft::wireup::test {

/// Two digits for each byte.
inline std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte b : bytes) {
    text += "0123456789abcdef"[std::to_integer<int>(b) >> 4];
    text += "0123456789abcdef"[std::to_integer<int>(b) & 15];
  }
  return text;
}

}  // namespace weft::wireup::test
