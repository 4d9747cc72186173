// SPDX-License-Identifier: Apache-2.0
// Bytes that identify their message, and show when one of them is missing, doubled or of another
// message. Megabytes of them are made and compared by few steps, because a sanitizer checks every
// step.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace weft::tests {

/// Both may be empty: memcmp takes no null pointer.
inline bool same(std::span<const std::byte> a, std::span<const std::byte> b) noexcept {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

struct bytes : std::vector<std::byte> {
  using vector::vector;

  friend bool operator==(const bytes& a, const bytes& b) noexcept { return same(a, b); }
};

/// A piece of random bytes, repeated, each repetition with its place in front. The sizes into which
/// weft cuts messages are no multiple of a piece.
inline bytes pattern(std::size_t size, std::uint64_t seed = 1) {
  constexpr std::size_t piece = 1021;
  bytes b(size);
  std::uint64_t x = seed * 0x9e3779b97f4a7c15u + 1;
  for (std::size_t i = 0; i < std::min(piece, size); ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    b[i] = static_cast<std::byte>(x >> 56);
  }
  for (std::size_t at = piece; at < size; at += piece) {
    const std::size_t rest = std::min(piece, size - at);
    std::memcpy(b.data() + at, b.data(), rest);
    std::memcpy(b.data() + at, &at, std::min(sizeof at, rest));
  }
  return b;
}

}  // namespace weft::tests
