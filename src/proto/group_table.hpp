// SPDX-License-Identifier: Apache-2.0
// The groups of a context, and those that have failed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include <weft/detail/message_ops.hpp>
#include <weft/error.hpp>
#include <weft/message.hpp>

#include "proto/frames.hpp"

namespace weft::proto {

class messenger;

/// The reserved tags of groups. A message of a collective: `group_bit`, the group's number, the
/// number of the collective. A signal with all of the low bits set *revokes* the group: its
/// immediate word has the reason and the rank that it concerns. docs/adr/0033-groups.md
inline constexpr std::uint64_t group_bit = std::uint64_t{1} << 55;
inline constexpr unsigned sequence_bits = 10;
inline constexpr std::uint64_t sequence_mask = (std::uint64_t{1} << sequence_bits) - 1;
/// Of a group's number.
inline constexpr std::uint64_t group_mask = (std::uint64_t{1} << (55 - sequence_bits)) - 1;

constexpr std::uint64_t message_tag(std::uint64_t group, std::uint64_t sequence) noexcept {
  return first_reserved_tag | group_bit | (group & group_mask) << sequence_bits |
         (sequence & sequence_mask);
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
/// The signals of a barrier. \param step below 32
constexpr std::uint64_t barrier_tag(std::uint64_t group, unsigned step) noexcept {
  return first_signal_tag | group_bit | (group & group_mask) << sequence_bits | step;
}
constexpr std::uint64_t revoke_tag(std::uint64_t group) noexcept {
  return barrier_tag(group, 0) | sequence_mask;
}
constexpr bool is_revocation(std::uint64_t tag) noexcept {
  return tag >> 55 == revoke_tag(0) >> 55 && (tag & sequence_mask) == sequence_mask;
}
constexpr std::uint64_t group_of(std::uint64_t tag) noexcept {
  return tag >> sequence_bits & group_mask;
}
/// Whether it is a message, or a signal, of that group.
constexpr bool is_of_group(std::uint64_t tag, std::uint64_t group) noexcept {
  return tag >= first_reserved_tag && (tag & group_bit) != 0 && group_of(tag) == group;
}

/// Why a group was revoked. On the wire: errc << 32 | rank.
struct revocation {
  errc why = errc::peer_lost;  ///< or `closed`, `stopped`, `refused`: a member's own failure
  peer_id rank = no_peer;      ///< the member that it concerns, by its rank in the group

  std::uint64_t packed() const noexcept { return static_cast<std::uint64_t>(why) << 32 | rank; }
  static revocation unpack(std::uint64_t word) noexcept;
};

/// A group that wants to know of its revocation.
class revocable {
 public:
  /// Called before the receives of the group end. Progress lock held.
  virtual void on_revoked(const revocation& what) noexcept = 0;
  /// Whether a peer, or this process, is a member: no other peer revokes the group. Progress lock
  /// held.
  virtual bool has_member(peer_id who) const noexcept = 0;

 protected:
  ~revocable() = default;
};

/// Maps the groups of a context, and remembers the last ones that were revoked: a revocation may
/// come before this side has made the group, and messages of the group after it. Owned by the
/// messenger. Progress lock held.
///
/// A peer can send a revocation of any number. For a group of which it is no member that has no
/// effect; for one that this side has not made yet it is kept as *said* by that peer, and counts
/// when the group is made and has the peer as a member. No peer alone displaces what others have
/// said.
class group_table {
 public:
  /// \throws std::bad_alloc
  explicit group_table(messenger& owner) : owner_(owner) {}

  /// \return false: there is a group with this number. \throws std::bad_alloc
  bool add(std::uint64_t group, revocable& who);
  void remove(std::uint64_t group) noexcept { groups_.erase(group); }

  /// The revocation of a group; null: it was not revoked, or too long ago.
  const revocation* find_revoked(std::uint64_t group) const noexcept;
  /// Whether messages of a group that come from a peer are dropped.
  bool drops(std::uint64_t group, peer_id from) const noexcept;
  /// This side revokes. Ends the receives that wait for messages of the group, drops those that
  /// have come, and drops later ones. The first call for a group counts.
  void revoke(std::uint64_t group, const revocation& what) noexcept;
  /// A peer revokes.
  void on_revocation(peer_id from, std::uint64_t group, const revocation& what) noexcept;

 private:
  struct entry {
    std::uint64_t group = 0;
    revocation what;
    peer_id from = no_peer;
  };
  static constexpr std::size_t most_revoked = 256;
  static constexpr std::size_t most_said = 128;  // by all peers
  static constexpr std::size_t most_of_one = 32;

  const entry* find_said(std::uint64_t group, peer_id from) const noexcept;
  void keep_said(const entry& e) noexcept;

  messenger& owner_;
  std::unordered_map<std::uint64_t, revocable*> groups_;
  std::array<entry, most_revoked> revoked_{};
  std::size_t revocations_ = 0;  // all that there were
  std::deque<entry> said_;       // the oldest first
};

}  // namespace weft::proto
