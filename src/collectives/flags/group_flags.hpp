// SPDX-License-Identifier: Apache-2.0
// The flags of a group on one host: how its members get them, and the rounds of its calls.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <weft/message.hpp>

#include "runtime/flags/flag_operation.hpp"
#include "runtime/flags/flag_segment.hpp"

namespace weft::collectives {

class communicator;

/// The flag segment of a group's members on one host, and this one's place in it. Ranks are those
/// among these members, but where a function says otherwise. Rank 0 makes the segment at an early
/// call and passes its descriptor to ranks 1 and 2, rank r to 2 r + 1 and 2 r + 2. The first calls
/// of a group go by messages, so that few of them wait for that. Where one member cannot have it,
/// the group goes on by messages: every member waits for the same answer (`usable`), so all agree.
///
/// A call has one round or several, numbered alike at all members. In round r a member *arrives*
/// by its flag for r, with some bytes, or with its data slot full; when it needs nothing of a round
/// any more it *leaves*. A flag and a slot are used again when all members have left the round that
/// had them.
///
/// Owned by the communicator. Any thread, unless a member says otherwise.
class group_flags {
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
  ~group_flags();
  group_flags(const group_flags&) = delete;
  group_flags& operator=(const group_flags&) = delete;

  /// Rank 0 makes the segment, once; nothing at others. Any thread, without the progress lock.
  void make_at_first_rank() noexcept {
    if (rank_ == 0 && !made_.load(std::memory_order_relaxed)) [[unlikely]]
      make();
  }

  // --- the segment; progress lock held ----------------------------------------------------------

  // Of these the parameters are ranks of the group.

  /// A member has passed the descriptor. \param from its rank
  void on_descriptor(peer_id from, const unique_fd& file) noexcept;
  void on_not_passed(peer_id to) noexcept;
  /// A member says that there is no segment.
  void on_no_segment(peer_id from) noexcept;
  /// The group is revoked: waits end.
  void fail(errc why) noexcept;

  /// Whether this member has the segment, or had it.
  bool is_made() const noexcept { return segment_ != nullptr; }
  /// Whether the group uses flags; nothing: it is not known yet.
  std::optional<bool> usable() noexcept {
    const state now = state_.load(std::memory_order_acquire);
    if (now == state::whole) [[likely]]
      return true;
    return now == state::none ? std::optional(false) : look();
  }

  peer_id rank() const noexcept { return rank_; }
  peer_id size() const noexcept { return n_; }
  /// Its rank in the group.
  peer_id member(peer_id rank) const noexcept { return first_ + rank; }
  /// \param rank in the group
  bool has(peer_id rank) const noexcept { return rank - first_ < n_; }

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
  runtime::flag_request room(std::uint64_t round, std::uint64_t depth) noexcept {
    return {waits(), segment_.get(), {0, n_}, round < depth ? 0 : round + 1 - depth};
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
  runtime::flag_request arrived(std::uint64_t round, peer_id first, peer_id count,
                                bool second = false) noexcept {
    return {waits(), segment_.get(), {index(round, first, second), count}, round + 1};
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

  /// What the oldest wait of this member lacks.
  struct missing_flag {
    peer_id rank;        ///< whose flag, in the group
    std::uint64_t call;  ///< the number of this member's call
    std::uint64_t value;
    friend bool operator==(const missing_flag&, const missing_flag&) = default;
  };
  std::optional<missing_flag> missing() const noexcept;
  /// Whether a wait lacks a flag of that rank of the group.
  bool lacks(peer_id rank) const noexcept;

 private:
  enum class state : std::uint8_t { coming, joined, whole, none };
  static constexpr std::uint64_t kept = 2 * window;
  static constexpr std::size_t bytes_of_rank = long_slots.at + long_slots.count * long_slots.bytes;

  runtime::flag_layout layout() const noexcept;
  void make() noexcept;
  std::uint32_t index(std::uint64_t round, peer_id rank, bool second) const noexcept {
    return static_cast<std::uint32_t>((1 + (second ? window : 0) + round % window) * n_ + rank);
  }
  runtime::flag_wait_service* waits() const noexcept;
  std::optional<bool> look() noexcept;
  std::uint64_t look_who_left() noexcept;
  bool join(const unique_fd& file) noexcept;
  peer_id parent() const noexcept { return member((rank_ - 1) / 2); }  // not of rank 0
  template <class F>
  void for_each_child(F f) noexcept;
  void pass_on(const unique_fd& file) noexcept;
  void have_none(bool tell_parent) noexcept;

  communicator& of_;
  const peer_id n_, first_, rank_;
  std::atomic<state> state_{state::coming};
  std::unique_ptr<runtime::flag_segment> segment_;  // from state `joined` on
  std::atomic<bool> made_{false};

  std::atomic<std::uint64_t> next_{0};                    // the first round of the next call
  std::atomic<std::uint64_t> known_left_{0};              // all members have left the rounds before
  std::array<std::atomic<std::uint64_t>, kept> over_{};   // the last rounds that this member has
                                                          // left, and 1, by rounds
  std::array<std::atomic<std::uint64_t>, kept> calls_{};  // the numbers of calls, by rounds
};

}  // namespace weft::collectives
