// SPDX-License-Identifier: Apache-2.0
// What a flag segment looks like in shared memory. docs/wire-format.md, "Flag segments".
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/descriptors/remote_wakeup.hpp"

namespace weft::runtime {

/// A number in shared memory that only grows, and the bytes that were written before it: one cache
/// line, so that both cross in a single transfer. One member writes it, all read it.
struct alignas(64) flag {
  std::atomic<std::uint64_t> value;
  std::byte with[56];
};
static_assert(sizeof(flag) == 64);

/// One member's words, which it alone writes.
struct alignas(128) flag_member {
  /// Odd: it sleeps, ring for what it awaits. The states name the bell: 1 that of the thread inside
  /// run(), 3 that of the progress thread. Counts up as the words of a doorbell_page do, from 4 on:
  /// 0 is that of a member that has not joined.
  std::atomic<std::uint32_t> asleep;
  /// What it awaits: all these flags have that value. `count` 0: ring for every flag. Written ahead
  /// of `asleep`. Only a hint: a torn one is of a member that has looked again since.
  std::atomic<std::uint32_t> first, count;
  std::atomic<std::uint64_t> value;
  wakeup_address caller_bell, progress_bell;
};
static_assert(sizeof(flag_member) == 128);

/// The beginning of a segment. Behind it: the members, then the flags, then memory for its users.
struct flag_header {
  static constexpr std::uint32_t expected_magic = 0x67616c66;  // "flag"
  static constexpr std::uint32_t expected_version = 1;

  std::uint32_t magic, version, members, flags;

  /// How many members sleep: who raises a flag reads this word alone.
  alignas(64) std::atomic<std::uint32_t> sleepers;
  /// Not zero: a member cannot use heavy_fence, or cannot be reached by it.
  std::atomic<std::uint32_t> must_fence;
  /// How many members have mapped the segment.
  std::atomic<std::uint32_t> joined;
  /// Not zero: a member cannot map it, so that nobody uses it.
  std::atomic<std::uint32_t> refused;
};

/// Where the parts of a segment lie.
struct flag_layout {
  std::uint32_t members = 0, flags = 0;
  std::size_t user_bytes = 0;

  constexpr std::size_t members_at() const noexcept { return sizeof(flag_header); }
  constexpr std::size_t flags_at() const noexcept {
    return members_at() + members * sizeof(flag_member);
  }
  constexpr std::size_t user_at() const noexcept {
    constexpr std::size_t page = 4096;
    return (flags_at() + flags * sizeof(flag) + page - 1) / page * page;
  }
  constexpr std::size_t size() const noexcept { return user_at() + user_bytes; }
};

}  // namespace weft::runtime
