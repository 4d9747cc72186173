// SPDX-License-Identifier: Apache-2.0
// The bytes between two queue pairs, and the contents of offers and answers. docs/wire-format.md,
// "Verbs".
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <weft/transport/transport.hpp>

namespace weft::transports::verbs {

// Numbers are sent in the byte order of memory.
static_assert(std::endian::native == std::endian::little);

inline constexpr std::uint32_t magic = 0x76666577;  // "wefv"
inline constexpr std::uint16_t version = 3;

inline constexpr std::uint32_t max_payload = 8 * 1024;  // of one frame
inline constexpr std::size_t most_before_payload = sizeof(frame_header) + sizeof(frame_extension);

/// Bytes of one receive: any frame fits.
inline constexpr std::size_t slot_bytes = max_payload + most_before_payload;
/// From one slot in memory to the next.
inline constexpr std::size_t slot_stride = (slot_bytes + 63) / 64 * 64;

/// Frames that one side may have sent beyond those that the other has confirmed to have read. Each
/// frame carries, as immediate data, how many its sender has read so far, modulo 2^32.
inline constexpr std::uint32_t window = 64;

/// Bytes of an inbox: a slot for each frame of the window. The other side writes the frame that is
/// the n-th one to count into slot n modulo `window`.
inline constexpr std::uint32_t inbox_bytes = window * slot_stride;

/// Frames of the transport itself, by frame_header::kind. They have neither extension nor payload,
/// are not counted, and are never shown to the protocols.
inline constexpr std::uint8_t first_own_kind = 0xf0;
enum class own_kind : std::uint8_t {
  credit = first_own_kind,  ///< carries only its immediate data
  disconnect                ///< the last frame of a sender that leaves
};

/// The contents of an offer and an answer: all that is needed to connect a queue pair to this one.
struct queue_pair_address {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t lid;         ///< InfiniBand's address; 0 on Ethernet
  std::uint32_t queue_pair;  ///< its number, 24 bits
  std::uint32_t first_psn;   ///< packet sequence number of its first packet, 24 bits
  std::uint8_t mtu;          ///< an ibv_mtu: 1 is 256 bytes, 5 is 4096
  std::uint8_t ethernet;     ///< 1: RoCE; 0: InfiniBand. Both sides must be the same.
  std::uint8_t window;       ///< frames; must be the receiver's own
  std::uint8_t
      reads_at_once;  ///< reads that this side's device answers at once; 0: it cannot be read
  std::uint32_t slot_bytes;  ///< bytes of the longest frame; must be the receiver's own
  std::array<std::uint8_t, 16> gid;
  std::uint32_t inbox;  ///< bytes of this side's inbox; 0: it has none, and frames are sent to it
  std::uint32_t inbox_key;  ///< the device's; the inbox begins at address 0
};
static_assert(sizeof(queue_pair_address) == 48);

}  // namespace weft::transports::verbs
