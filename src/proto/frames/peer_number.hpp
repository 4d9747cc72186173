// SPDX-License-Identifier: Apache-2.0
// What the number of a peer says: a rank, one of its lanes, or a peer that is no rank.
#pragma once

#include <cstdint>

#include <weft/message.hpp>

namespace weft::proto {

/// Numbers the lanes of a context.
using lane_number = std::uint8_t;

/// A context has at most so many lanes: with any two of them connected, two processes have 1024
/// channels.
inline constexpr lane_number most_lanes = 32;
/// Ranks are below this number.
inline constexpr peer_id most_ranks = peer_id{1} << 25;
/// Peers that are no ranks are numbered from here on.
inline constexpr peer_id first_non_rank = peer_id{1} << 31;
static_assert((most_lanes + 1) * std::uint64_t{most_ranks} <= first_non_rank);

/// A lane of a rank.
struct peer_place {
  peer_id rank = no_peer;  ///< no_peer: of a process that has no rank
  lane_number lane = 0;
  friend bool operator==(const peer_place&, const peer_place&) = default;
};

/// The number of a rank's lane as lane `own` counts: the rank itself for the lane of that number,
/// so that a program with one lane sees ranks only; above the rank, one more than another lane.
/// \param where a rank below most_ranks, a lane below most_lanes
constexpr peer_id number_of(const peer_place& where, lane_number own) noexcept {
  return where.lane == own ? where.rank : where.rank + (where.lane + peer_id{1}) * most_ranks;
}

/// The reverse, for a number below first_non_rank.
constexpr peer_place place_of(peer_id number, lane_number own) noexcept {
  const peer_id lane = number / most_ranks;
  return {number % most_ranks, lane == 0 ? own : static_cast<lane_number>(lane - 1)};
}

/// Whether `number_of` can have given that number.
constexpr bool names_rank(peer_id number) noexcept {
  return number < (most_lanes + 1) * most_ranks;
}

}  // namespace weft::proto
