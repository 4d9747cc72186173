// SPDX-License-Identifier: Apache-2.0
// The flag segment of a group: how its members get it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <weft/coro/task.hpp>
#include <weft/message.hpp>

#include "runtime/flags/flag_segment.hpp"

namespace weft::runtime {
class flag_wait_service;
}

namespace weft::collectives {

class communicator;

/// The flag segment of a group's members on one host, which are next to each other. Of these the
/// first, number 0, makes it and passes its descriptor to 1 and 2, number r to 2 r + 1 and 2 r + 2:
/// so each is connected with one of them at least, and notices its end.
/// Where one member cannot have it, none uses it: every member waits for the same answer
/// (`usable`), so all agree.
///
/// This one is of shared_flags: any member may raise any flag. That of collectives is group_flags.
/// Owned by the communicator. Any thread, unless a member says otherwise.
class group_segment {
 public:
  group_segment(communicator& of, const runtime::flag_layout& l) noexcept;
  group_segment(const group_segment&) = delete;
  group_segment& operator=(const group_segment&) = delete;
  virtual ~group_segment();

  /// The first member makes the segment, once; nothing at others. Any thread, without the progress
  /// lock.
  void make_at_first_rank() noexcept {
    if (rank_ == 0 && !made_.load(std::memory_order_relaxed)) [[unlikely]]
      make();
  }

  /// Whether the group uses it; nothing: it is not known yet.
  std::optional<bool> usable() noexcept {
    const state now = state_.load(std::memory_order_acquire);
    if (now == state::whole) [[likely]]
      return true;
    return now == state::none ? std::optional(false) : look();
  }
  /// The same, as soon as it is known. The communicator lives until the end.
  /// \throws weft::error: the group is revoked, or this call was stopped
  task<bool> settles();
  /// Why this member cannot have it; empty: another one cannot. Once that is known.
  const std::string& obstacle() const noexcept { return obstacle_; }

  // --- once it is usable ------------------------------------------------------------------------

  runtime::flag_segment& memory() const noexcept { return *segment_; }
  flag_request until(flag_range flags, std::uint64_t value) const noexcept {
    return {waits(), segment_.get(), flags, value};
  }

  /// The rank in the group of a member of this host. \param number among these members
  peer_id member(peer_id number) const noexcept { return first_ + number; }

  // --- for the communicator; progress lock held. Ranks are those of the group --------------------

  /// Whether that rank is on this host.
  bool has(peer_id rank) const noexcept { return rank - first_ < n_; }

  /// A member has passed the descriptor. \param from its rank
  void on_descriptor(peer_id from, const unique_fd& file) noexcept;
  void on_not_passed() noexcept;
  /// A member says that there is no segment.
  void on_no_segment(peer_id from) noexcept;
  /// Waits end. \param text cause and cure; null: that of the error
  void fail(errc why, std::shared_ptr<const std::string> text = {}) noexcept;

  /// Whether the death of a member matters: one that comes before the segment does, too.
  virtual bool is_wanted() const noexcept { return true; }
  bool has_waits() const noexcept;
  /// The rank that a call of `settles` waits for.
  std::optional<peer_id> awaits_member() const noexcept;

  /// What the oldest wait of this member lacks.
  struct missing_flag {
    peer_id rank;        ///< whose flag
    std::uint64_t call;  ///< the number of this member's call
    std::uint64_t value;
    friend bool operator==(const missing_flag&, const missing_flag&) = default;
  };
  /// Nothing also where that is no single member's.
  virtual std::optional<missing_flag> missing() const noexcept { return std::nullopt; }
  /// Whether this member needs that rank still, which has left.
  virtual bool lacks(peer_id rank) const noexcept;

 protected:
  /// This member has the segment.
  virtual void on_joined() noexcept {}
  bool is_settling() const noexcept { return settling_.load() != 0; }

  communicator& of_;
  const peer_id n_, first_, rank_;  // members on this host; the first one's rank; this one's number
  std::unique_ptr<runtime::flag_segment> segment_;  // from state `joined` on

 private:
  enum class state : std::uint8_t { coming, joined, whole, none };

  void make() noexcept;
  std::optional<bool> look() noexcept;
  runtime::flag_wait_service* waits() const noexcept;
  bool join(const unique_fd& file) noexcept;
  peer_id parent() const noexcept { return member((rank_ - 1) / 2); }  // not of the first one
  template <class F>
  void for_each_child(F f) noexcept;
  void pass_on(const unique_fd& file) noexcept;
  void have_none(bool tell_parent) noexcept;
  void note_obstacle(const char* what) noexcept;

  const runtime::flag_layout layout_;
  std::atomic<state> state_{state::coming};
  std::atomic<bool> made_{false};
  std::atomic<unsigned> settling_{0};  // calls of `settles`
  std::string obstacle_;               // set before state `none`

  // Of `fail` before there was a segment. Progress lock held.
  errc failed_ = errc::ok;
  std::shared_ptr<const std::string> why_;
};

}  // namespace weft::collectives
