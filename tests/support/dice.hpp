// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every machine, and can be split: the numbers of one part of a
// run do not depend on how many the others used.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace weft::tests {

using std::chrono::nanoseconds;

/// SplitMix64.
class dice {
 public:
  explicit constexpr dice(std::uint64_t seed) noexcept : state_(seed) {}

  constexpr std::uint64_t throw_one() noexcept {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }

  /// Independent dice for part `n`, not affected by earlier throws.
  constexpr dice part(std::uint64_t n) const noexcept {
    dice d(origin_ ^ (n + 1) * 0xd1342543de82ef95u);
    return dice(d.throw_one());
  }

  constexpr std::uint64_t below(std::uint64_t bound) noexcept { return throw_one() % bound; }
  constexpr std::uint64_t between(std::uint64_t least, std::uint64_t most) noexcept {
    return least + below(most - least + 1);
  }
  constexpr bool percent(unsigned chance) noexcept { return below(100) < chance; }
  nanoseconds up_to(nanoseconds most) noexcept {
    return nanoseconds(below(static_cast<std::uint64_t>(most.count()) + 1));
  }
  template <class List>
  const auto& one_of(const List& list) noexcept {
    return list[below(std::size(list))];
  }

 private:
  std::uint64_t state_;
  std::uint64_t origin_ = state_;
};

}  // namespace weft::tests
