// SPDX-License-Identifier: Apache-2.0
// The rounds of collectives in a flag segment.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <weft/message.hpp>

#include "runtime/flags/flag_segment.hpp"
#include "runtime/os/pause.hpp"

namespace weft::collectives {

/// Which flag and which slot a round has, and when they are free again. A call has one round or
/// several, numbered alike at all members. In round r a member *arrives* by its flag for r, with
/// some bytes, or with its data slot full; when it needs nothing of a round any more it *leaves*. A
/// flag and a slot are used again when all members have left the round that had them.
/// One member's view. Any thread; waits for nothing.
class flag_rounds {
 public:
  /// Bytes that travel with a flag.
  static constexpr std::size_t inline_bytes = 32;
  /// Slots of one kind, of which each rank has some for itself: a round uses one of them in turn.
  struct slots {
    std::uint64_t count;
    std::size_t bytes;  ///< of each
    std::size_t at;     ///< of the first one, in the memory of a rank
  };
  /// Rounds that a member may be ahead of the last one, but for long slots.
  static constexpr std::uint64_t window = 64;
  static constexpr slots short_slots{16, 8 * 1024, 0};
  static constexpr slots long_slots{2, 64 * 1024, short_slots.count* short_slots.bytes};
  static constexpr std::uint64_t kept = 2 * window;
  /// Rounds that a member may have left without the others' knowledge.
  static constexpr std::uint64_t most_unpublished = 4;

  /// Of the segment. \param members of the group
  static runtime::flag_layout layout_of(peer_id members) noexcept;

  /// \param rank of this member \param members of the group
  flag_rounds(peer_id rank, peer_id members) noexcept : rank_(rank), n_(members) {}
  /// Before the first round. \param segment as `layout_of` says; outlives the rounds
  void use(runtime::flag_segment& segment) noexcept { segment_ = &segment; }

  peer_id rank() const noexcept { return rank_; }
  peer_id members() const noexcept { return n_; }

  /// A call begins, in the order of calls. \return its first round
  std::uint64_t begin(std::uint64_t rounds) noexcept {
    const std::uint64_t first = next_.load(std::memory_order_relaxed);
    next_.store(first + rounds, std::memory_order_relaxed);
    return first;
  }

  /// What a member waits for: all these flags have that value.
  struct awaited {
    flag_range flags;
    std::uint64_t value;
  };
  bool have(const awaited& what) const noexcept { return segment_->have(what.flags, what.value); }
  /// All members have left the round that had the flag, or slot, of this one.
  /// \param depth `window`, or the number of its slots
  awaited room(std::uint64_t round, std::uint64_t depth) const noexcept {
    return {{0, n_}, round < depth ? 0 : round + 1 - depth};
  }
  /// Whether there is room, as an earlier look tells. Also before `use`.
  bool has_known_room(std::uint64_t round, std::uint64_t depth) const noexcept {
    return known_left_.load(std::memory_order_relaxed) >= room(round, depth).value;
  }
  /// The same with a new look, if need be.
  bool has_room(std::uint64_t round, std::uint64_t depth) noexcept {
    return has_known_room(round, depth) || look_who_left() >= room(round, depth).value;
  }
  /// \param second in the second half of the round
  awaited arrived(std::uint64_t round, peer_id first, peer_id count,
                  bool second = false) const noexcept {
    return {{index(round, first, second), count}, round + 1};
  }
  /// This member arrives.
  void arrive(std::uint64_t round, bool second = false) noexcept {
    segment_->raise(line(round, rank_, second), round + 1);
    // Others have read the line of the next round long ago: a store must not wait for it.
    runtime::prefetch_for_write(&line(round + 1, rank_, second));
  }
  /// This member leaves. If it has begun nothing else, others see it by the next `publish`, or
  /// after a few more rounds: who waits for room polls that flag, and it would cross for each
  /// round.
  void leave(std::uint64_t round) noexcept;
  /// Ahead of each wait: others may wait for what this member has left.
  void publish() noexcept {
    std::atomic_thread_fence(
        std::memory_order_seq_cst);  // `begin` before, on another thread `leave`
    if (const std::uint64_t now = left_.load(std::memory_order_acquire);
        segment_->at(rank_).value.load(std::memory_order_relaxed) < now)
      publish(now);
  }

  runtime::flag& line(std::uint64_t round, peer_id rank, bool second = false) noexcept {
    return segment_->at(index(round, rank, second));
  }
  std::byte* slot(std::uint64_t round, peer_id rank, const slots& of) noexcept {
    return segment_->user_memory().data() + rank * bytes_of_rank + of.at +
           round % of.count * of.bytes;
  }
  /// The slot that no rank has of its own: each writes its part of it.
  std::byte* common_slot(std::uint64_t round, const slots& of) noexcept {
    return slot(round, n_, of);
  }

 private:
  static constexpr std::size_t bytes_of_rank = long_slots.at + long_slots.count * long_slots.bytes;

  std::uint32_t index(std::uint64_t round, peer_id rank, bool second) const noexcept {
    return static_cast<std::uint32_t>((1 + (second ? window : 0) + round % window) * n_ + rank);
  }
  std::uint64_t look_who_left() noexcept;
  void publish(std::uint64_t left) noexcept;

  const peer_id rank_, n_;
  runtime::flag_segment* segment_ = nullptr;
  std::atomic<std::uint64_t> next_{0};                   // the first round of the next call
  std::atomic<std::uint64_t> known_left_{0};             // all members have left the rounds before
  std::atomic<std::uint64_t> left_{0};                   // this member has left the rounds before
  std::array<std::atomic<std::uint64_t>, kept> over_{};  // the last rounds that this member has
                                                         // left, and 1, by rounds
};

}  // namespace weft::collectives
