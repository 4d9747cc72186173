// SPDX-License-Identifier: Apache-2.0
// memcpy for a few dozen bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft::runtime {

/// Copies at most 64 bytes without a call: two moves that overlap where needed. A call to memcpy
/// costs as much as the rest of the work for a small message.
inline void small_copy(std::byte* to, const std::byte* from, std::size_t n) noexcept {
  const auto halves = [&]<class Word>(Word) {
    Word first, last;
    std::memcpy(&first, from, sizeof(Word));
    std::memcpy(&last, from + n - sizeof(Word), sizeof(Word));
    std::memcpy(to, &first, sizeof(Word));
    std::memcpy(to + n - sizeof(Word), &last, sizeof(Word));
  };
  struct words16 {
    std::uint64_t w[2];
  };
  struct words32 {
    std::uint64_t w[4];
  };
  if (n == 8) {  // one store less, for the most frequent size
    std::uint64_t word;
    std::memcpy(&word, from, sizeof word);
    std::memcpy(to, &word, sizeof word);
    return;
  }
  if (n > 8) {
    if (n <= 16) return halves(std::uint64_t{});
    if (n <= 32) return halves(words16{});
    return halves(words32{});
  }
  if (n >= 4) return halves(std::uint32_t{});
  if (n >= 2) return halves(std::uint16_t{});
  if (n == 1) *to = *from;
}

}  // namespace weft::runtime
