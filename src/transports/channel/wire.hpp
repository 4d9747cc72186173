// SPDX-License-Identifier: Apache-2.0
// What the two ends of an RDMA channel write into each other's memory. docs/wire-format.md, "The
// RDMA channel".
#pragma once

#include <cstdint>

namespace weft::transports::channel {

/// What both ends must have chosen alike; a part of each card.
struct shape {
  std::uint32_t ring;  ///< bytes
  std::uint32_t chunk;
  std::uint32_t step;  ///< a rung

  bool operator==(const shape&) const = default;
};
static_assert(sizeof(shape) == 12);

/// A count of this side that the peer writes. A device may write it piece by piece: it is valid
/// when both halves agree. 0 at first, and never less than before.
struct word {
  std::uint64_t value;
  std::uint64_t inverse;  ///< ~value; 0 as long as nothing was written
};
static_assert(sizeof(word) == 16);

/// Where the reader wants a long run written; `number` counts invitations from 1 on.
struct invitation {
  std::uint64_t place;  ///< as the line names memory of the application (line::lend)
  std::uint64_t size;
  word number;
};
static_assert(sizeof(invitation) == 32);

/// The words that lie behind the ring, at the next multiple of 64.
struct words {
  alignas(64) word head;  ///< basic: bytes that the peer has written in all
  alignas(64) word tail;  ///< basic: bytes that the peer has read; other rungs: chunks
  alignas(
      64) word moved;  ///< bytes that went without a copy: read by the peer, or written by the peer
  alignas(64) invitation invited;
};
static_assert(sizeof(words) == 256);

/// The contents of a chunk.
enum class chunk_kind : std::uint32_t {
  data = 1,
  offer  ///< an `offer`: it holds the place of a long run in the order of bytes
};

/// The last bytes of a chunk; the bytes that it carries lie right before. So flags lie where no
/// data ever lies, and a reader that sees the flag sees the data, too: a device writes a chunk from
/// its beginning on, and a processor writes the turn last.
struct trailer {
  std::uint64_t read;  ///< chunks that the writer has read so far
  std::uint32_t size;
  std::uint32_t kind;
  std::uint64_t turn;  ///< which chunk of the connection this is, counted from 1 on
};
static_assert(sizeof(trailer) == 24);

struct offer {
  std::uint64_t place;  ///< of rung `read`: as the line names memory of the application
  std::uint64_t size;   ///< of which the reader may take less
};
static_assert(sizeof(offer) == 16);

}  // namespace weft::transports::channel
