// SPDX-License-Identifier: Apache-2.0
// Types of RMA: rights, names of regions, and notifications.
#pragma once

#include <cstdint>

#include <weft/message.hpp>

namespace weft {

/// What peers may do to a region.
enum class rights : std::uint8_t { none = 0, read = 1, write = 2, read_write = 3 };

/// Names a region of another process, or a part of it. A plain value, which travels in an ordinary
/// message between processes of one architecture. It is valid only at the process that made it, and
/// until the region ends.
struct remote_region {
  std::uint64_t key = 0;     ///< 0: none
  std::uint64_t offset = 0;  ///< bytes, from the beginning of the region (see region_name::first)
  std::uint64_t size = 0;    ///< bytes

  /// A part of this remote region.
  /// \param from  offset in bytes from its beginning
  /// \param bytes size of the part
  /// \throws weft::error (invalid_argument) if the part exceeds this remote region
  remote_region part(std::uint64_t from, std::uint64_t bytes) const;
};
static_assert(sizeof(remote_region) == 24);

/// The name of a region, chosen by its owner: for interfaces that name remote memory by a number
/// and an address, such as libfabric.
struct region_name {
  std::uint64_t key =
      0;  ///< unique among the context's regions; a process that guesses it has access
  std::uint64_t first = 0;  ///< the remote_region::offset of the region's first byte
};

/// A word that the owner of a region gets when a put into the region has ended.
struct notify {
  std::uint64_t value = 0;
};

/// A notification at the region's owner.
struct notification {
  peer_id source = no_peer;  ///< the initiator of the put
  std::uint64_t value = 0;   ///< its notify::value
};

}  // namespace weft
