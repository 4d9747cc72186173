// SPDX-License-Identifier: Apache-2.0
// What lies in shared memory between the contexts of a node. docs/wire-format.md, "QDMA".
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

/// Virtual process ids: the generation of an entry above its index. 0 is nobody's.
using vpid = std::uint32_t;
inline constexpr std::uint32_t last_generation = (1u << (32 - index_bits)) - 1;

constexpr std::uint32_t index_of(vpid v) noexcept { return v & (entry_count - 1); }
constexpr std::uint32_t generation_of(vpid v) noexcept { return v >> index_bits; }
constexpr vpid vpid_of(std::uint32_t generation, std::uint32_t index) noexcept {
  return generation << index_bits | index;
}

/// One context's place. `word` says in one piece whose it is, so that an owner that dies in the
/// middle of claiming can be told from one that lives; the rest is written after that.
struct alignas(line) table_entry {
  std::atomic<std::uint64_t> word;       ///< entry_word
  std::atomic<std::uint64_t> started;    ///< when the owner started, in ticks since boot
  std::atomic<std::uint64_t> pid_space;  ///< in which namespace its process number means it
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

inline constexpr std::uint32_t office_magic = 0x666f6471;  // "qdof"
inline constexpr std::uint32_t slot_bytes = 2048;
inline constexpr std::uint32_t max_payload = slot_bytes - 16;
inline constexpr std::uint32_t slot_count = 64;  // a power of two
inline constexpr std::uint32_t queue_count = 4;  // the first one is the device's own
inline constexpr std::uint32_t waiting_count = 15;

enum class slot_state : std::uint32_t {
  free = 0,     ///< whoever changes it to `claimed` may write into the slot
  claimed = 1,  ///< somebody writes into it
  full = 2,     ///< the owner may read it
  withheld = 3  ///< its writer has taken too long: passed over until it says that it has ended
};

/// lap 30 bits, state 2, vpid of the producer 32.
struct slot_word {
  std::uint32_t lap = 0;
  slot_state state = slot_state::free;
  vpid producer = 0;

  static constexpr std::uint32_t lap_mask = (1u << 30) - 1;

  constexpr std::uint64_t packed() const noexcept {
    return std::uint64_t{lap & lap_mask} << 34 |
           std::uint64_t{static_cast<std::uint32_t>(state)} << 32 | producer;
  }
  static constexpr slot_word unpack(std::uint64_t w) noexcept {
    return {static_cast<std::uint32_t>(w >> 34), static_cast<slot_state>(w >> 32 & 3),
            static_cast<vpid>(w)};
  }
};

constexpr std::uint32_t lap_of(std::uint64_t position) noexcept {
  return static_cast<std::uint32_t>(position / slot_count) & slot_word::lap_mask;
}

struct alignas(line) slot {
  std::atomic<std::uint64_t> word;
  std::uint32_t size;
  std::uint32_t reserved;
  std::byte payload[max_payload];
};
static_assert(sizeof(slot) == slot_bytes);

/// Made by its owner, who alone takes out of it; written by anybody. The owner's position is its
/// own. Model: tests/models/qdma_queue.pml.
struct queue_memory {
  std::atomic<std::uint64_t> tail;  ///< where to look for a free slot; only a hint
  alignas(line) std::atomic<vpid> waiting[waiting_count];  ///< who is to be rung when there is room
  alignas(line) slot slots[slot_count];
};

/// What a producer tells the device itself, in queue 0.
struct signal_body {
  std::uint64_t event;   ///< its key
  std::uint32_t hops;    ///< how many descriptors led here without an application
  std::uint32_t status;  ///< 0, or the errc of what failed before it
};

// --- regions -----------------------------------------------------------------------------------

inline constexpr std::uint32_t catalog_magic = 0x61636471;  // "qdca"
inline constexpr std::uint32_t region_count = 1024;
inline constexpr std::uint32_t holder_count = 4;

/// Written by the owner of the region, mapped by others for reading only.
struct alignas(line) region_record {
  std::atomic<std::uint64_t> key;  ///< 0: none. Written last, and cleared first
  std::atomic<std::uint64_t> base;
  std::atomic<std::uint64_t> size;
  std::atomic<std::uint64_t> rights;  ///< 1 read, 2 write
  std::atomic<std::uint64_t> arena;   ///< 1: `base` is an offset in the arena; 0: an address
};
static_assert(sizeof(region_record) == line);

struct catalog_memory {
  std::uint32_t magic;
  std::uint32_t records;
  alignas(line) region_record region[region_count];
};

/// Queues, and who copies from or to a region at this moment: whoever takes a region back waits for
/// these. Written by anybody.
struct office_memory {
  std::uint32_t magic;
  std::uint32_t queues;
  alignas(line) std::atomic<vpid> holders[region_count][holder_count];
  alignas(line) queue_memory queue[queue_count];
};

// --- introductions -----------------------------------------------------------------------------

inline constexpr std::uint32_t card_magic = 0x64636471;  // "qdcd"
inline constexpr std::uint32_t card_version = 1;

/// What a context tells of itself. With it come descriptors: the table, its office, its catalog,
/// its doorbell page, its arena.
struct card_body {
  std::uint32_t magic;
  std::uint32_t version;
  vpid who;
  std::uint32_t fences_for_itself;
  std::uint64_t probe_address;
  std::uint64_t probe_value;
  std::uint64_t arena_bytes;
};
static_assert(sizeof(card_body) == 40);
inline constexpr std::size_t card_fds = 5;

}  // namespace weft::transports::qdma
