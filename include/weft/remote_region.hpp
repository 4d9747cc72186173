// SPDX-License-Identifier: Apache-2.0
// Words for one-sided access: what may be done to memory, where it is, and what is told of it.
#pragma once

#include <cstdint>

#include <weft/message.hpp>

namespace weft {

/// What others may do to memory.
enum class rights : std::uint8_t { none = 0, read = 1, write = 2, read_write = 3 };

/// Names memory in a region of another process, or a part of it. A plain value, to be handed on in
/// an ordinary message between processes of one architecture. It means something at the process
/// that made it only, and nothing any more once the region has ended.
struct remote_region {
  std::uint64_t key = 0;     ///< 0: none
  std::uint64_t offset = 0;  ///< bytes, from the beginning of the region (see region_name::first)
  std::uint64_t size = 0;    ///< bytes

  /// \param from bytes from the beginning of this one \param bytes of the part
  /// \throws weft::error (invalid_argument) if this one ends before it
  remote_region part(std::uint64_t from, std::uint64_t bytes) const;
};
static_assert(sizeof(remote_region) == 24);

/// What peers call a region, where its owner chooses that: for interfaces whose callers name remote
/// memory by a bare number and an address, such as libfabric.
struct region_name {
  std::uint64_t key =
      0;  ///< of no other region of the context now; a process that guesses it has access
  std::uint64_t first = 0;  ///< what its first byte is counted as, in remote_region::offset
};

/// A word that the owner of a region is told when a put into it has ended.
struct notify {
  std::uint64_t value = 0;
};

/// What the owner is told.
struct notification {
  peer_id source = no_peer;  ///< whose put it was
  std::uint64_t value = 0;   ///< its notify::value
};

}  // namespace weft
