// SPDX-License-Identifier: Apache-2.0
// The identity of a context, apart from its location.
#pragma once

#include <sys/types.h>

#include <array>
#include <compare>
#include <cstdint>
#include <string>

#include "proto/frames/peer_number.hpp"

namespace weft::wireup {

using proto::lane_number;

/// 128 bits that name a context while it lives: a hash of its public key. Never reused.
struct context_id {
  std::array<std::uint64_t, 2> words{};
  // clang-tidy takes the zero that the compiler compares with for a pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const context_id&, const context_id&) = default;
};

/// One lane of a context.
struct lane_id {
  context_id context;
  lane_number lane = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): as above
  friend auto operator<=>(const lane_id&, const lane_id&) = default;
};

/// The two lanes that a channel connects, as one side sees them.
struct lane_pair {
  lane_number own = 0;
  lane_number other = 0;
};

/// What a lane of a context tells another about itself.
struct identity {
  context_id id;
  pid_t pid = 0;   ///< as the kernel reports it for the socket, not as the peer claims; 0: unknown
  context_id job;  ///< zero: none
  peer_id rank = no_peer;  ///< its rank in that job, if any
  lane_number lane = 0;    ///< of the context's, the one that speaks
  std::string locator;     ///< where its connection manager listens, as locator.hpp writes it

  lane_id id_of_lane() const noexcept { return {id, lane}; }
};

}  // namespace weft::wireup
