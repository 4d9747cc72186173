// SPDX-License-Identifier: Apache-2.0
// One-sided access between this side and one peer, in both directions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proto/rma/rma_initiator.hpp"
#include "proto/rma/rma_target.hpp"

namespace weft::proto {

/// How many accesses of one side may be without an answer; later ones wait for an answer. A peer
/// that exceeds this is no correct peer.
inline constexpr std::size_t most_outstanding_rma = 1024;

/// Made for the first access in either direction, owned by the peer. Progress lock held only.
struct rma {
  rma(const protocol_services& s, region_table& regions, frame_writer& w,
      peer_connection& c) noexcept
      : initiator(s, w, c), target(s, regions, w, c) {}

  /// Takes any frame of an access. \return false: no correct peer sends it
  bool on_frame(frame_kind kind, const frame_header& h, const frame_extension& x,
                const std::byte* data) noexcept;

  rma_initiator initiator;
  rma_target target;
};

}  // namespace weft::proto
