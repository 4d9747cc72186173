// SPDX-License-Identifier: Apache-2.0
// The layout of shared memory between two processes. docs/wire-format.md, "Shared memory".
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <weft/transport/transport.hpp>

#include "transports/shm/shared_copy.hpp"

namespace weft::transports::shm {

inline constexpr std::uint32_t ring_magic = 0x676e6972;  // "ring"
inline constexpr std::uint32_t ring_version = 6;

inline constexpr std::uint32_t slot_count = 256;         // a power of two
inline constexpr std::uint32_t bulk_bytes = 128 * 1024;  // a power of two
inline constexpr std::uint32_t max_payload = 32 * 1024;  // of one frame
inline constexpr std::uint32_t line = 64;                // of the cache
inline constexpr std::uint32_t inline_bytes = 44;        // payload within a slot

/// One frame, or the head of one whose payload lies in the bulk area: one cache line, so that a
/// small message crosses in a single transfer. `sequence` is written last: it tells the receiver
/// that the slot is valid, and for which lap around the ring.
struct alignas(line) slot {
  frame_header header;
  std::byte body[inline_bytes];  // extension, and payload unless that is in the bulk area
  std::atomic<std::uint32_t> sequence;
};
static_assert(sizeof(slot) == line);

/// One direction between two processes, made by the sender. Only the words named here are shared;
/// both sides keep their positions in private memory and accept the other's word only within
/// bounds. Model: tests/models/ring.pml. Its code in every order: tests/interleave/ring.cpp.
struct ring {
  // Written once by the sender.
  std::uint32_t magic;
  std::uint32_t version;
  std::uint32_t slots_in_ring;
  std::uint32_t bytes_in_bulk;

  /// Written by the sender: it waits for room and wants its doorbell rung.
  alignas(line) std::atomic<std::uint32_t> room_wanted;

  /// Written by the sender: it has returned the memory that it exposed to its application. A
  /// receiver that has read there checks this word afterwards.
  std::atomic<std::uint32_t> withdrawn;

  /// Written by the receiver: how many slots and bytes of the bulk area it has read since the
  /// beginning. Published now and then, not per frame.
  alignas(line) std::atomic<std::uint64_t> slots_read;
  std::atomic<std::uint64_t> bulk_read;

  /// A payload of the sender that both sides copy.
  shared_copy share;

  alignas(line) slot slots[slot_count];
  alignas(line) std::byte bulk[bulk_bytes];
};

constexpr std::uint32_t sequence_of(std::uint64_t position) noexcept {
  return static_cast<std::uint32_t>(position / slot_count) + 1;
}

/// Payloads follow each other in the bulk area at multiples of a line and never wrap around in the
/// middle: one that does not fit before the end starts at the beginning. Sender and receiver
/// compute the same places from the same sizes.
struct bulk_place {
  std::uint64_t begin;  // position since the ring was made
  std::uint64_t end;
  static constexpr bulk_place after(std::uint64_t position, std::uint32_t size) noexcept {
    const std::uint64_t room = bulk_bytes - position % bulk_bytes;
    const std::uint64_t begin = size <= room ? position : position + room;
    return {begin, begin + (size + line - 1) / line * line};
  }
};

/// Whether a frame's payload fits into its slot, behind its extension.
constexpr bool fits_slot(const frame_header& h) noexcept {
  return extension_size(h) + h.size <= inline_bytes;
}

/// The name of a shared region between two processes. Numbers are used again, and the generation
/// distinguishes the uses: a name of a region that is gone does not match a later one.
struct region_name {
  std::uint16_t number = 0;  // 0: none
  std::uint8_t generation = 0;

  static constexpr unsigned offset_bits = 40;
  constexpr remote_address at(std::uint64_t offset) const noexcept {
    return {number, std::uint64_t{generation} << offset_bits | offset};
  }
  static constexpr std::uint8_t generation_of(remote_address a) noexcept {
    return static_cast<std::uint8_t>(a.offset >> offset_bits);
  }
  static constexpr std::uint64_t offset_of(remote_address a) noexcept {
    return a.offset & ((std::uint64_t{1} << offset_bits) - 1);
  }
};

enum class note_kind : std::uint8_t {
  shown = 1,  ///< a region, with its memory
  gone = 2,   ///< a region that was shown was freed or taken back
  taken = 3,  ///< `count` notes of the kinds above have been taken in all
  passed = 4  ///< a descriptor of the protocol, which says by `count` what it is for
};

struct region_note {
  note_kind kind{};
  std::uint8_t generation = 0;
  std::uint16_t number = 0;
  std::uint32_t count = 0;
};
static_assert(sizeof(region_note) == 8);

/// Bytes of an offer: tells the receiver whether process_vm_readv reaches the sender.
struct offer_body {
  std::uint64_t probe_address;
  std::uint64_t probe_value;
  std::uint32_t fences_for_itself;  // the sender could not join heavy fences
  std::uint32_t reserved;
};

}  // namespace weft::transports::shm
