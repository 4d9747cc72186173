// SPDX-License-Identifier: Apache-2.0
// Numbers of groups, computed, equally at all members, from what the members have in common: no
// message is needed to agree on one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "proto/groups/group_table.hpp"

namespace weft::collectives {

/// Where a number comes from, so that two ways never give one number by the same words.
enum class origin : std::uint64_t { split = 1, shrink, view, name, flags, replace, grow };

/// Mixes words into a number (the finalizer of SplitMix64, Steele, Lea, Flood 2014). Two groups of
/// one process get the same one of 2^32 by chance of 2^-32, and the second one then is an error.
class number_of_group {
 public:
  explicit number_of_group(origin of) noexcept { add(static_cast<std::uint64_t>(of)); }
  number_of_group& add(std::uint64_t word) noexcept {
    std::uint64_t h = state_ + word + 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    state_ = h ^ h >> 31;
    return *this;
  }
  /// 0 is the world's.
  std::uint64_t value() const noexcept {
    return std::max<std::uint64_t>(1, state_ & proto::group_mask);
  }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace weft::collectives
