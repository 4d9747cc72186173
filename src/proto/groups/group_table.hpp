// SPDX-License-Identifier: Apache-2.0
// The groups of a context, and those that have failed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include <weft/error.hpp>
#include <weft/message.hpp>
#include <weft/operations/messages.hpp>

#include "proto/frames/frames.hpp"
#include "proto/services/services.hpp"

namespace weft::proto {

class peer;
class peer_registry;

/// The reserved tags of groups: `group_bit`, the group's number, and, in a message of a collective
/// or a signal of a barrier, the number of the collective and what it is (`call_bits`), so that a
/// message meets no receive of another call. Signals with the uppermost values of `call_bits` are
/// not of barriers: one *revokes* the group, the others tell what a member has called.
/// docs/adr/0033-groups.md
inline constexpr std::uint64_t group_bit = std::uint64_t{1} << 55;
inline constexpr unsigned sequence_bits = 10, call_bits = 13;
inline constexpr unsigned bits_below_group = sequence_bits + call_bits;
inline constexpr std::uint64_t sequence_mask = (std::uint64_t{1} << sequence_bits) - 1;
inline constexpr std::uint64_t call_mask = (std::uint64_t{1} << call_bits) - 1;
/// Of a group's number.
inline constexpr std::uint64_t group_mask = (std::uint64_t{1} << (55 - bits_below_group)) - 1;
/// The steps of a barrier.
inline constexpr std::uint64_t step_mask = 31;

/// \param call which one it is: a fingerprint of `call_bits`
constexpr std::uint64_t message_tag(std::uint64_t group, std::uint64_t sequence,
                                    std::uint64_t call = 0) noexcept {
  return first_reserved_tag | group_bit | (group & group_mask) << bits_below_group |
         (sequence & sequence_mask) << call_bits | (call & call_mask);
}
constexpr bool is_group_message(std::uint64_t tag) noexcept {
  return tag >> 55 == (first_reserved_tag | group_bit) >> 55;
}
/// The tag of `group::own_tag`. It is a hash, so that all 64 bits of the application's tag count;
/// two of them are equal by chance only.
constexpr std::uint64_t own_tag(std::uint64_t group, std::uint64_t tag) noexcept {
  std::uint64_t x = tag ^ (group + 1) * 0x9e3779b97f4a7c15;
  for (int round = 0; round != 2; ++round) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    x ^= x >> 31;
  }
  return detail::first_group_tag | (x & ((std::uint64_t{1} << 53) - 1));
}
/// The signals of a barrier. \param step at most step_mask
constexpr std::uint64_t barrier_tag(std::uint64_t group, unsigned step,
                                    std::uint64_t sequence = 0) noexcept {
  return first_signal_tag | group_bit | (group & group_mask) << bits_below_group |
         (sequence & sequence_mask) << call_bits | step;
}
constexpr std::uint64_t revoke_tag(std::uint64_t group) noexcept {
  return barrier_tag(group, 0, sequence_mask) | call_mask;
}
/// What it is for that a member of a group says what a member has called.
enum class statement_use : std::uint8_t {
  tells = 1,    ///< why the group will be revoked
  asks,         ///< the sender has waited for long
  contradicts,  ///< the receiver's message is of another call
  lost,         ///< a member is lost: the first word names it
  no_segment    ///< the group has no flag segment, as far as the sender knows
};
constexpr std::uint64_t statement_tag(std::uint64_t group, statement_use use) noexcept {
  return revoke_tag(group) - static_cast<std::uint64_t>(use);
}
constexpr bool is_group_signal(std::uint64_t tag) noexcept {
  return tag >> 55 == revoke_tag(0) >> 55;
}
constexpr bool is_revocation(std::uint64_t tag) noexcept {
  return is_group_signal(tag) && (tag & call_mask) == call_mask;
}
constexpr bool is_statement(std::uint64_t tag) noexcept {
  return is_group_signal(tag) && (tag & call_mask) < call_mask &&
         (tag & call_mask) >= (statement_tag(0, statement_use::no_segment) & call_mask);
}
constexpr std::uint64_t group_of(std::uint64_t tag) noexcept {
  return tag >> bits_below_group & group_mask;
}
constexpr std::uint64_t sequence_of(std::uint64_t tag) noexcept {
  return tag >> call_bits & sequence_mask;
}
/// The fingerprint of its call; that of a barrier is 0.
constexpr std::uint64_t call_of(std::uint64_t tag) noexcept {
  return is_group_signal(tag) ? tag & call_mask & ~step_mask : tag & call_mask;
}
/// Whether it is a message, or a signal, of that group.
constexpr bool is_of_group(std::uint64_t tag, std::uint64_t group) noexcept {
  return tag >= first_reserved_tag && (tag & group_bit) != 0 && group_of(tag) == group;
}

/// Why a group was revoked. On the wire: cause << 48 | why << 32 | rank.
struct revocation {
  errc why = errc::peer_lost;  ///< or `closed`, `stopped`; `refused`: a member's own failure;
                               ///< `invalid_argument`: members made different calls
  peer_id rank = no_peer;      ///< the member that it concerns, by its rank in the group
  errc cause = errc::ok;       ///< with `refused`: the member's own error

  std::uint64_t packed() const noexcept {
    return static_cast<std::uint64_t>(cause) << 48 | static_cast<std::uint64_t>(why) << 32 | rank;
  }
  static revocation unpack(std::uint64_t word) noexcept;
};

/// On the wire of a statement_tag. The words are of the collectives.
struct group_statement {
  statement_use use;
  std::uint64_t first, second;
};

/// A group that wants to know of its revocation, and of calls that do not fit together. Progress
/// lock held.
class revocable {
 public:
  /// Called before the receives of the group end.
  virtual void on_revoked(const revocation& what) noexcept = 0;
  /// Whether a peer, or this process, is a member: no other peer revokes the group.
  virtual bool has_member(peer_id who) const noexcept = 0;
  /// No receive waits for that message, or signal, of a peer; it may have come before the group was
  /// made. Must not revoke.
  virtual void on_unexpected(peer& from, std::uint64_t tag) noexcept = 0;
  /// \param from a member
  virtual void on_statement(peer_id from, const group_statement& what) noexcept = 0;
  /// Of its group_watch. \param posted those receives wait for long that were posted before
  /// (match_operation::posted_at) \param last it does not look again
  /// \return whether it has to look again
  virtual bool on_watch(std::uint64_t posted, bool last) noexcept = 0;
  /// A member has passed a descriptor of its flag segment. \param file checked here
  virtual void on_descriptor(peer_id from, const unique_fd& file) noexcept = 0;
  /// The descriptor that was for that member cannot be passed; the member learns of it.
  virtual void on_not_passed(peer_id to) noexcept = 0;
  /// The connection to a member has ended a moment ago. May revoke.
  virtual void on_member_ended(peer_id who, errc why) noexcept = 0;
  /// How many collectives this process has begun in it. Any thread.
  virtual std::uint64_t begun() const noexcept = 0;
  /// The context ends: what waits for flags ends, as receives do.
  virtual void on_closed() noexcept = 0;

 protected:
  ~revocable() = default;
};

/// Maps the groups of a context, and remembers the last ones that were revoked: a revocation may
/// come before this side has made the group, and messages of the group after it. Owned by the
/// messenger. Progress lock held.
///
/// A peer can send a revocation of any number. For a group of which it is no member that has no
/// effect; for one that this side has not made yet it is kept as *said* by that peer, like what it
/// states of calls and losses, and counts when the group is made and has the peer as a member. No
/// peer alone displaces what others have said.
class group_table {
 public:
  /// \param peers used after the constructor \throws std::bad_alloc
  group_table(const protocol_services& s, const peer_registry& peers)
      : services_(s), peers_(peers) {}

  /// \return false: there is a group with this number. \throws std::bad_alloc
  bool add(std::uint64_t group, revocable& who);
  void remove(std::uint64_t group) noexcept;
  /// How many collectives this process has begun, also in groups that have gone.
  std::uint64_t begun() const noexcept;

  /// Null: there is no group with this number.
  revocable* find(std::uint64_t group) const noexcept {
    const auto found = groups_.find(group);
    return found == groups_.end() ? nullptr : found->second;
  }
  /// The revocation of a group; null: it was not revoked, or too long ago.
  const revocation* find_revoked(std::uint64_t group) const noexcept;
  /// Whether messages of a group that come from a peer are dropped.
  bool drops(std::uint64_t group, peer_id from) const noexcept;
  /// This side revokes. Ends the receives that wait for messages of the group, drops those that
  /// have come, and drops later ones. The first call for a group counts.
  void revoke(std::uint64_t group, const revocation& what) noexcept;
  /// A message, or signal, of a group came that no receive waits for.
  void on_unexpected(peer& from, std::uint64_t tag) noexcept {
    if (revocable* const group = find(group_of(tag))) group->on_unexpected(from, tag);
  }
  void on_statement(peer_id from, std::uint64_t group, const group_statement& what) noexcept;
  /// Passes the descriptor of a group's flag segment to a peer, once there is a link; or tells it
  /// that there is no segment, and the group.
  /// \param file not to be the disposal's; null: none is left
  void pass(peer& to, std::uint64_t group, unique_fd file) noexcept;
  /// That peer can be reached from now on.
  void on_opened(peer& to) noexcept;
  void on_descriptor(peer_id from, std::uint64_t group, unique_fd file) noexcept;
  /// The groups learn of it in a moment: a peer ends in the middle of other work.
  void on_ended(const peer& who) noexcept;
  void tell_ended(peer_id who, errc why) noexcept;
  /// The context ends. Later, groups learn of no peer's end.
  void close() noexcept;
  /// A peer revokes.
  void on_revocation(peer_id from, std::uint64_t group, const revocation& what) noexcept;

 private:
  struct entry {
    std::uint64_t group = 0;
    revocation what;
    peer_id from = no_peer;
  };
  struct early_statement {
    std::uint64_t group;
    group_statement what;
    peer_id from;
  };
  struct early_descriptor {
    std::uint64_t group;
    unique_fd file;
    peer_id from;
  };
  struct passing {
    std::uint64_t group;
    unique_fd file;
    const peer* to;
  };
  static constexpr std::size_t most_descriptors = 16;
  static constexpr std::size_t most_descriptors_of_one = 4;
  static constexpr std::size_t most_revoked = 256;
  static constexpr std::size_t most_said = 128;  // by all peers
  static constexpr std::size_t most_of_one = 32;

  const entry* find_said(std::uint64_t group, peer_id from) const noexcept;
  template <class Entry>
  static std::optional<Entry> keep(std::deque<Entry>& of_all, Entry e, std::size_t limit,
                                   std::size_t limit_of_one) noexcept;
  void pass_now(peer& to, std::uint64_t group, const unique_fd& file) noexcept;
  void not_passed(peer& to, std::uint64_t group) noexcept;
  static void say_no_segment(peer& to, std::uint64_t group) noexcept;

  const protocol_services& services_;
  const peer_registry& peers_;
  std::unordered_map<std::uint64_t, revocable*> groups_;
  std::uint64_t begun_in_removed_ = 0;
  std::array<entry, most_revoked> revoked_{};
  std::size_t revocations_ = 0;             // all that there were
  std::deque<entry> said_;                  // the oldest first
  std::deque<early_statement> statements_;  // but for those that ask, or contradict
  std::deque<early_descriptor> descriptors_;
  std::vector<passing> passing_;  // they wait for a link
  bool closed_ = false;
};

}  // namespace weft::proto
