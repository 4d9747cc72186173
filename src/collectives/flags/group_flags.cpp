// SPDX-License-Identifier: Apache-2.0
#include "collectives/flags/group_flags.hpp"

#include "collectives/communicator.hpp"
#include "runtime/flags/flag_waits.hpp"

namespace weft::collectives {

group_flags::group_flags(communicator& of) noexcept
    : group_segment(of, flag_rounds::layout_of(of.shape().per_host)), rounds_(rank_, n_) {}

std::optional<group_segment::missing_flag> group_flags::missing() const noexcept {
  const auto lacks = segment_ ? runtime::flag_waits::lacks(*segment_) : std::nullopt;
  if (!lacks) return std::nullopt;
  return missing_flag{member(lacks->flag % n_), calls_[(lacks->value - 1) % flag_rounds::kept],
                      lacks->value};
}

bool group_flags::lacks(peer_id rank) const noexcept {
  return awaits_member() == rank ||
         (segment_ && runtime::flag_waits::lacks(*segment_, rank - first_, n_));
}

}  // namespace weft::collectives
