// SPDX-License-Identifier: Apache-2.0
// The last choice for each kind of collective: programs repeat their calls, and the costs are some
// fifty nanoseconds of floating point.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "collectives/select.hpp"

namespace weft::collectives {

/// Of one group. Any thread.
class last_choices {
 public:
  /// As the function `choose`. \param g the same in each call
  std::uint8_t choose(const collective_size& c, const group_shape& g) noexcept {
    // A choice is one word: 48 bits of bytes, 7 of an element, one whether it commutes, 8 of a
    // place. An element has a byte at least, so that 0 is no choice.
    if (c.bytes > of_parts || c.element - 1 >= most_element) return collectives::choose(c, g);
    const std::uint64_t asked =
        c.bytes << 16 | std::uint64_t{c.element} << 9 | std::uint64_t{c.commutative} << 8;
    std::atomic<std::uint64_t>& last = last_[static_cast<std::size_t>(c.what)];
    const std::uint64_t known = last.load(std::memory_order_relaxed);
    if ((known & ~place_mask) == asked) return static_cast<std::uint8_t>(known & place_mask);
    const std::uint8_t place = collectives::choose(c, g);
    last.store(asked | place, std::memory_order_relaxed);
    return place;
  }

 private:
  static constexpr std::uint64_t place_mask = 0xff;
  static constexpr std::size_t most_element = 0x7f;

  std::array<std::atomic<std::uint64_t>, kinds> last_{};
};

}  // namespace weft::collectives
