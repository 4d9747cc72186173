// SPDX-License-Identifier: Apache-2.0
// The flags of a group on one host: the rounds of its calls.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "collectives/flags/group_segment.hpp"

namespace weft::collectives {

/// A group's flag segment with room for its collectives, and this member's place in them. The first
/// calls of a group go by messages, so that few of them wait for the segment. Where one member
/// cannot have it, the group goes on by messages.
///
/// A call has one round or several, numbered alike at all members. In round r a member *arrives*
/// by its flag for r, with some bytes, or with its data slot full; when it needs nothing of a round
/// any more it *leaves*. A flag and a slot are used again when all members have left the round that
/// had them.
///
/// Owned by the communicator. Any thread, unless a member says otherwise.
class group_flags final : public group_segment {
 public:
  /// Calls of a group ahead of the first one by flags, unless WEFT_COLLECTIVES asks for flags.
  static constexpr std::uint64_t calls_by_messages = 8;
  /// Bytes that travel with a flag.
  static constexpr std::size_t inline_bytes = 32;
  /// Slots of one kind, of which each rank has some for itself: a round uses one of them in turn.
  struct slots {
    std::uint64_t count;
    std::size_t bytes;  ///< of each
    std::size_t at;     ///< of the first one, in the memory of a rank
  };
  /// Rounds that a member may be ahead of the last one, but for long slots.
  static constexpr std::uint64_t window = 16;
  static constexpr slots short_slots{window, 8 * 1024, 0};
  static constexpr slots long_slots{2, 64 * 1024, window* short_slots.bytes};

  explicit group_flags(communicator& of) noexcept;

  // --- rounds; once it is usable -----------------------------------------------------------------

  /// A call begins, in the order of calls. \return its first round
  std::uint64_t begin(std::uint64_t rounds) noexcept {
    const std::uint64_t first = next_.load(std::memory_order_relaxed);
    next_.store(first + rounds, std::memory_order_relaxed);
    return first;
  }
  /// A call comes to one of its rounds. \param call its number
  void enter(std::uint64_t round, std::uint64_t call) noexcept {
    calls_[round % kept].store(call, std::memory_order_relaxed);
  }
  /// Until all members have left the round that had the flag, or slot, of this one.
  /// \param depth `window`, or the number of its slots
  flag_request room(std::uint64_t round, std::uint64_t depth) noexcept {
    return until({0, n_}, round < depth ? 0 : round + 1 - depth);
  }
  /// The same without a look at the flags, where an earlier look tells. \return whether there is
  bool has_room(std::uint64_t round, std::uint64_t depth) noexcept {
    const std::uint64_t needed = round < depth ? 0 : round + 1 - depth;
    return known_left_.load(std::memory_order_relaxed) >= needed || look_who_left() >= needed;
  }
  /// This member arrives. \param second in the second half of the round
  void arrive(std::uint64_t round, bool second = false) noexcept {
    segment_->raise(line(round, rank_, second), round + 1);
  }
  flag_request arrived(std::uint64_t round, peer_id first, peer_id count,
                       bool second = false) noexcept {
    return until({index(round, first, second), count}, round + 1);
  }
  void leave(std::uint64_t round) noexcept;

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

  // --- waits that last; progress lock held ------------------------------------------------------

  /// This member has the segment, or waits for it.
  bool is_wanted() const noexcept override { return segment_ != nullptr || is_settling(); }
  std::optional<missing_flag> missing() const noexcept override;
  bool lacks(peer_id rank) const noexcept override;

 private:
  static constexpr std::uint64_t kept = 2 * window;
  static constexpr std::size_t bytes_of_rank = long_slots.at + long_slots.count * long_slots.bytes;

  static runtime::flag_layout layout_of(peer_id n) noexcept;
  std::uint32_t index(std::uint64_t round, peer_id rank, bool second) const noexcept {
    return static_cast<std::uint32_t>((1 + (second ? window : 0) + round % window) * n_ + rank);
  }
  std::uint64_t look_who_left() noexcept;

  std::atomic<std::uint64_t> next_{0};                    // the first round of the next call
  std::atomic<std::uint64_t> known_left_{0};              // all members have left the rounds before
  std::array<std::atomic<std::uint64_t>, kept> over_{};   // the last rounds that this member has
                                                          // left, and 1, by rounds
  std::array<std::atomic<std::uint64_t>, kept> calls_{};  // the numbers of calls, by rounds
};

}  // namespace weft::collectives
