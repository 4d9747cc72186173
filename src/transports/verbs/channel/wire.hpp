// SPDX-License-Identifier: Apache-2.0
// The card of an end over a device. docs/wire-format.md, "The RDMA channel".
#pragma once

#include "transports/channel/wire.hpp"
#include "transports/verbs/wire.hpp"

namespace weft::transports::verbs::channel {

inline constexpr std::uint32_t magic = 0x6c666577;  // "wefl"
inline constexpr std::uint16_t version = 2;

/// In `at` magic and version are the channel's; window, slot_bytes and the inbox are 0.
struct card {
  queue_pair_address at;
  std::uint32_t key;  ///< of the memory that the peer writes: a ring, then the words
  transports::channel::shape chosen;
};
static_assert(sizeof(card) == 64);

}  // namespace weft::transports::verbs::channel
