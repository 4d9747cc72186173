// SPDX-License-Identifier: Apache-2.0
// The flags of a group on one host: the rounds of its calls.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "collectives/flags/flag_rounds.hpp"
#include "collectives/flags/group_segment.hpp"
#include "runtime/os/shared_yields.hpp"

namespace weft::collectives {

/// A flag segment with room for a group's collectives, and this member's place in them. The first
/// calls of a group go by messages, so that few of them wait for the segment. Where one member
/// cannot have it, the group goes on by messages.
///
/// Owned by the communicator. Any thread, unless a member says otherwise.
class group_flags final : public group_segment {
 public:
  /// Calls of a group ahead of the first one by flags, unless WEFT_COLLECTIVES asks for flags.
  static constexpr std::uint64_t calls_by_messages = 8;

  explicit group_flags(communicator& of) noexcept;

  // --- rounds -----------------------------------------------------------------------------------

  /// Those of this member; once it is usable, but for their `begin`.
  flag_rounds& rounds() noexcept { return rounds_; }
  /// A call comes to one of its rounds. \param call its number
  void enter(std::uint64_t round, std::uint64_t call) noexcept {
    calls_[round % flag_rounds::kept].store(call, std::memory_order_relaxed);
  }
  /// Of members that wait on a crowded host.
  runtime::shared_yields& yields() noexcept { return yields_; }
  using group_segment::until;
  /// The wait for what flag_rounds names.
  flag_request until(const flag_rounds::awaited& what) const noexcept {
    return until(what.flags, what.value);
  }

  // --- waits that last; progress lock held ------------------------------------------------------

  /// This member has the segment, or waits for it.
  bool is_wanted() const noexcept override { return segment_ != nullptr || is_settling(); }
  std::optional<missing_flag> missing() const noexcept override;
  bool lacks(peer_id rank) const noexcept override;

 private:
  void on_joined() noexcept override { rounds_.use(*segment_); }

  flag_rounds rounds_;
  runtime::shared_yields yields_;
  std::array<std::atomic<std::uint64_t>, flag_rounds::kept> calls_{};  // their numbers, by rounds
};

}  // namespace weft::collectives
