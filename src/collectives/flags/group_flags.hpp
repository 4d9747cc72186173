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

#include "collectives/flags/flag_rounds.hpp"
#include "runtime/flags/flag_operation.hpp"
#include "runtime/flags/flag_segment.hpp"

namespace weft::collectives {

class communicator;

/// A group's flag segment, and its place in it. Rank 0 makes the segment at an early call and
/// passes its descriptor to ranks 1 and 2, rank r to 2 r + 1 and 2 r + 2. The first calls of a
/// group go by messages, so that few of them wait for that. Where one member cannot have it, the
/// group goes on by messages: every member waits for the same answer (`usable`), so all agree.
///
/// Owned by the communicator. Any thread, unless a member says otherwise.
class group_flags {
 public:
  /// Calls of a group ahead of the first one by flags, unless WEFT_COLLECTIVES asks for flags.
  static constexpr std::uint64_t calls_by_messages = 8;

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

  // --- rounds -----------------------------------------------------------------------------------

  /// Those of this member; once it is usable, but for `begin`.
  flag_rounds& rounds() noexcept { return rounds_; }
  /// A call comes to one of its rounds. \param call its number
  void enter(std::uint64_t round, std::uint64_t call) noexcept {
    calls_[round % flag_rounds::kept].store(call, std::memory_order_relaxed);
  }
  /// The wait for what flag_rounds names.
  runtime::flag_request until(const flag_rounds::awaited& what) const noexcept {
    return {waits(), segment_.get(), what.flags, what.value};
  }

  // --- waits that last; progress lock held ------------------------------------------------------

  /// What the oldest wait of this member lacks.
  struct missing_flag {
    peer_id rank;        ///< whose flag
    std::uint64_t call;  ///< the number of this member's call
    std::uint64_t value;
    friend bool operator==(const missing_flag&, const missing_flag&) = default;
  };
  std::optional<missing_flag> missing() const noexcept;
  /// Whether a wait lacks a flag of that rank.
  bool lacks(peer_id rank) const noexcept;

 private:
  enum class state : std::uint8_t { coming, joined, whole, none };

  void make() noexcept;
  runtime::flag_wait_service* waits() const noexcept;
  std::optional<bool> look() noexcept;
  bool join(const unique_fd& file) noexcept;
  peer_id parent() const noexcept { return (rank_ - 1) / 2; }  // not of rank 0
  template <class F>
  void for_each_child(F f) noexcept;
  void pass_on(const unique_fd& file) noexcept;
  void have_none(bool tell_parent) noexcept;

  communicator& of_;
  const peer_id rank_, n_;
  std::atomic<state> state_{state::coming};
  std::unique_ptr<runtime::flag_segment> segment_;  // from state `joined` on
  std::atomic<bool> made_{false};

  flag_rounds rounds_;
  std::array<std::atomic<std::uint64_t>, flag_rounds::kept> calls_{};  // their numbers, by rounds
};

}  // namespace weft::collectives
