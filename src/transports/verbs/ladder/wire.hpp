// SPDX-License-Identifier: Apache-2.0
// What the two ends of a ladder's pipe write into each other's memory. docs/wire-format.md, "The
// ladder".
#pragma once

#include "transports/verbs/wire.hpp"

namespace weft::transports::verbs::ladder {

inline constexpr std::uint32_t magic = 0x6c666577;  // "wefl"
inline constexpr std::uint16_t version = 1;

/// What an end says of itself. In `at` magic and version are the ladder's; window and slot_bytes
/// are 0.
struct card {
  queue_pair_address at;
  std::uint32_t key;   ///< of the memory that the peer writes: a ring, then the words
  std::uint32_t ring;  ///< bytes of it; must be the receiver's own, like the two that follow
  std::uint32_t chunk;
  std::uint32_t step;  ///< a rung
};
static_assert(sizeof(card) == 56);

/// A count that the peer writes here. A device may write it piece by piece: it counts when both
/// halves agree. 0 at first, and never less than before.
struct word {
  std::uint64_t value;
  std::uint64_t inverse;  ///< ~value; 0 as long as nothing was written
};
static_assert(sizeof(word) == 16);

/// Where the reader wants something long written; `number` counts them from 1 on.
struct invitation {
  std::uint64_t place;  ///< a named_place, packed
  std::uint64_t size;
  word number;
};
static_assert(sizeof(invitation) == 32);

/// What lies behind the ring, at the next multiple of 64.
struct words {
  alignas(64) word head;   ///< basic: bytes that the peer has written in all
  alignas(64) word tail;   ///< basic: bytes that it has read; else chunks
  alignas(64) word moved;  ///< bytes that went without a copy: read by it, or written by it
  alignas(64) invitation invited;
};
static_assert(sizeof(words) == 256);

/// What a chunk carries.
enum class chunk_kind : std::uint32_t {
  data = 1,
  offer  ///< an `offer`: something long stands here in the order of bytes
};

/// The last bytes of a chunk; what it carries lies right before. So flags lie where no data ever
/// does, and who sees this sees the data, too: a device writes a chunk from its beginning on.
struct trailer {
  std::uint64_t read;  ///< chunks that the writer has read so far
  std::uint32_t size;
  std::uint32_t kind;
  std::uint64_t turn;  ///< which chunk of the connection this is, counted from 1 on
};
static_assert(sizeof(trailer) == 24);

struct offer {
  std::uint64_t place;  ///< of rung `read`: a named_place, packed
  std::uint64_t size;   ///< of which the reader may take less
};
static_assert(sizeof(offer) == 16);

}  // namespace weft::transports::verbs::ladder
