// SPDX-License-Identifier: Apache-2.0
// The layout of the memory that the contexts of a node share. docs/wire-format.md, "QDMA".
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::transports::qdma {

inline constexpr std::uint32_t line = 64;  // of the cache

// --- the table of contexts -------------------------------------------------------------------

inline constexpr std::uint32_t table_magic = 0x62746471;  // "qdtb"
inline constexpr std::uint32_t index_bits = 12;
inline constexpr std::uint32_t entry_count = 1u << index_bits;

/// Virtual process ids: the generation of an entry above its index. 0 is no process's id.
using vpid = std::uint32_t;
inline constexpr std::uint32_t last_generation = (1u << (32 - index_bits)) - 1;

constexpr std::uint32_t index_of(vpid v) noexcept { return v & (entry_count - 1); }
constexpr std::uint32_t generation_of(vpid v) noexcept { return v >> index_bits; }
constexpr vpid vpid_of(std::uint32_t generation, std::uint32_t index) noexcept {
  return generation << index_bits | index;
}

/// One context's entry. `word` names its owner as a whole, so that an owner that dies in the middle
/// of claiming can be told from a living one; the rest is written after `word`.
struct alignas(line) table_entry {
  std::atomic<std::uint64_t> word;       ///< entry_word
  std::atomic<std::uint64_t> started;    ///< when the owner started, in ticks since boot
  std::atomic<std::uint64_t> pid_space;  ///< the namespace of the owner's process number
  std::atomic<std::uint64_t> name[2];    ///< of the socket at which it can be met
  std::atomic<std::uint32_t> complete;   ///< the generation for which the above was written
};
static_assert(sizeof(table_entry) == line);

/// generation 20 bits, process number 22, start time 21 (its lower bits), claimed 1.
struct entry_word {
  std::uint32_t generation = 0;
  std::uint32_t pid = 0;
  std::uint32_t started = 0;
  bool claimed = false;

  static constexpr std::uint32_t started_mask = (1u << 21) - 1;
  static constexpr std::uint32_t pid_mask = (1u << 22) - 1;

  constexpr std::uint64_t packed() const noexcept {
    return std::uint64_t{generation} << 44 | std::uint64_t{pid & pid_mask} << 22 |
           std::uint64_t{started & started_mask} << 1 | (claimed ? 1u : 0u);
  }
  static constexpr entry_word unpack(std::uint64_t w) noexcept {
    return {static_cast<std::uint32_t>(w >> 44), static_cast<std::uint32_t>(w >> 22) & pid_mask,
            static_cast<std::uint32_t>(w >> 1) & started_mask, (w & 1) != 0};
  }
};

struct table_memory {
  std::uint32_t magic;
  std::uint32_t entries_in_table;
  alignas(line) table_entry entry[entry_count];
};

// --- receive queues ----------------------------------------------------------------------------

inline constexpr std::uint32_t segment_magic = 0x666f6471;  // "qdof"
inline constexpr std::uint32_t slot_bytes = 2048;           // of a message, at most
inline constexpr std::uint32_t head_bytes = 52;   // of a message within a slot's first line
inline constexpr std::uint32_t slot_count = 256;  // a power of two
inline constexpr std::uint32_t queue_count = 4;   // the first one is the device's own
inline constexpr std::uint32_t words_of_wishes = entry_count / 64;

/// Positions count slots since the queue was made; a slot is used anew once for each turn.
constexpr std::uint32_t sequence_of(std::uint64_t position) noexcept {
  return static_cast<std::uint32_t>(position / slot_count) + 1;
}

/// A claim: the turn, above the producer's id.
constexpr std::uint64_t claim_of(std::uint64_t position, vpid who) noexcept {
  return std::uint64_t{sequence_of(position)} << 32 | who;
}

/// The first line of a slot. A message that fits into it crosses in one transfer. `sequence` is
/// written last.
struct alignas(line) slot_head {
  vpid from;
  std::uint32_t size;
  std::byte body[head_bytes];
  std::atomic<std::uint32_t> sequence;
};
static_assert(sizeof(slot_head) == line);

/// Written by all processes. A producer takes a position by its claim, which only producers read:
/// the owner polls only the next slot's first line. Model: tests/models/qdma_queue.pml.
struct queue_memory {
  std::atomic<std::uint64_t> tail;                ///< where to look for a free slot; only a hint
  alignas(line) std::atomic<std::uint32_t> wish;  ///< a producer may want to be rung for room
  std::atomic<std::uint64_t>
      wishes[words_of_wishes];  ///< the producers that want room: a bit for each index
  alignas(line) std::atomic<std::uint64_t> claims[slot_count];
  alignas(line) slot_head heads[slot_count];
  alignas(line) std::byte bodies[slot_count][slot_bytes];
};

/// What the owner of a queue publishes about it, in memory that only the owner can write.
struct queue_progress {
  alignas(line) std::atomic<std::uint64_t> head;  ///< positions before it are over
  std::atomic<std::uint32_t> withheld;            ///< 1: some slot was withheld; read usable_from
  alignas(line) std::atomic<std::uint64_t> usable_from[slot_count];  ///< positions before are over
};

/// A producer's message for the device itself, in queue 0.
struct signal_body {
  std::uint64_t event;   ///< its key
  std::uint32_t hops;    ///< how many descriptors led to this signal without an application
  std::uint32_t status;  ///< 0, or the errc of the failure before it
};

// --- regions -----------------------------------------------------------------------------------

inline constexpr std::uint32_t directory_magic = 0x61636471;  // "qdca"
inline constexpr std::uint32_t region_count = 1024;
inline constexpr std::uint32_t holder_count = 4;

/// Written by the owner of the region, mapped by other processes for reading only.
struct alignas(line) region_record {
  std::atomic<std::uint64_t> key;  ///< 0: none. Written last, and cleared first
  std::atomic<std::uint64_t> base;
  std::atomic<std::uint64_t> size;
  std::atomic<std::uint64_t> rights;  ///< 1 read, 2 write
  std::atomic<std::uint64_t> arena;   ///< 1: `base` is an offset in the arena; 0: an address
};
static_assert(sizeof(region_record) == line);

/// How far this context has read the stage of that sender.
struct alignas(line) stage_progress {
  std::atomic<std::uint64_t> read;  ///< bytes since the beginning
};

/// Memory that only its owner writes; other processes map it for reading only.
struct region_directory {
  std::uint32_t magic;
  std::uint32_t records;
  alignas(line) region_record region[region_count];
  alignas(line) queue_progress queue[queue_count];
  alignas(line) stage_progress stage[entry_count];  ///< of the sender with that index
};

/// Queues, and the processes that copy from or to a region at present: a process that takes a
/// region back waits for these. Written by all processes.
struct segment_memory {
  std::uint32_t magic;
  std::uint32_t queues;
  alignas(line) std::atomic<vpid> holders[region_count][holder_count];
  alignas(line) queue_memory queue[queue_count];
};

// --- frames ------------------------------------------------------------------------------------

inline constexpr std::uint32_t stage_bytes = 128 * 1024;  // a power of two
inline constexpr std::uint32_t max_payload = 32 * 1024;   // of one frame

/// Payloads that do not fit into a slot follow each other in the memory of their sender, at
/// multiples of a line, and never wrap around in the middle: one that does not fit before the end
/// starts at the beginning. Sender and receiver compute the same places from the same sizes.
struct stage_place {
  std::uint64_t begin;  // bytes since the stage was made
  std::uint64_t end;
  static constexpr stage_place after(std::uint64_t position, std::uint32_t size) noexcept {
    const std::uint64_t room = stage_bytes - position % stage_bytes;
    const std::uint64_t begin = size <= room ? position : position + room;
    return {begin, begin + (size + line - 1) / line * line};
  }
};

/// What a sender of frames tells about itself. With it come its stage, which other processes can
/// only read, and its doorbell page. The answer is a card: its `who` is the id by which the
/// answering side knows the sender.
struct offer_body {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint32_t fences_for_itself;
  std::uint32_t reserved;
};
static_assert(sizeof(offer_body) == 16);
inline constexpr std::uint32_t offer_magic = 0x6b6c6471;  // "qdlk"

// --- introductions -----------------------------------------------------------------------------

inline constexpr std::uint32_t card_magic = 0x64636471;  // "qdcd"
inline constexpr std::uint32_t card_version = 3;

/// What a context tells about itself. With it come descriptors: for a device, the table first; its
/// shared segment, its region directory, its arena, its doorbell page.
struct device_address_body {
  std::uint32_t magic;
  std::uint32_t version;
  vpid who;
  std::uint32_t fences_for_itself;
  std::uint64_t probe_address;
  std::uint64_t probe_value;
  std::uint64_t arena_bytes;
};
static_assert(sizeof(device_address_body) == 40);
inline constexpr std::size_t card_fds = 5;

}  // namespace weft::transports::qdma
