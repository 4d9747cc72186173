// SPDX-License-Identifier: Apache-2.0
// Which algorithm a collective uses: pure functions of what all members know.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <weft/message.hpp>

namespace weft::collectives {

struct algorithm;

/// In the order of the words of a statement (docs/wire-format.md).
enum class kind : std::uint8_t {
  barrier,
  broadcast,
  reduce,
  all_reduce,
  gather,
  scatter,
  all_gather,
  all_to_all,
  scan
};

inline constexpr std::size_t kinds = 9;

std::string_view name_of(kind k) noexcept;
/// \return false: there is no collective with this name
bool find_kind(std::string_view name, kind& found) noexcept;

/// For each kind the algorithm that was asked for: one more than its place in the table; 0: none.
using forced_choices = std::array<std::uint8_t, kinds>;

/// What all members of a group know of it, and agree on.
struct group_shape {
  peer_id ranks = 1;
  bool one_host = true;                          ///< all share memory
  forced_choices forced = {};                    ///< of WEFT_COLLECTIVES
  bool flags = has_flags(one_host ? ranks : 0);  ///< members of a host may have a flag segment
  /// Ranks of each host, next to each other; 0: hosts differ, or it is not known.
  peer_id per_host = one_host ? ranks : 0;
  /// So many members of a greater group use a host's port at once, each with its own such group.
  peer_id at_port = 1;

  static constexpr peer_id most_with_flags = 256;
  static constexpr bool has_flags(peer_id per_host) noexcept {
    return per_host > 1 && per_host <= most_with_flags;
  }
  /// \param of_host as per_host
  static group_shape on_hosts(peer_id members, peer_id of_host,
                              const forced_choices& asked) noexcept {
    return {members, of_host == members, asked, has_flags(of_host), of_host};
  }

  /// Whether the group has several hosts with several ranks each.
  bool has_levels() const noexcept { return !one_host && per_host > 1 && per_host < ranks; }
  // With levels:
  peer_id hosts() const noexcept { return ranks / of_host().ranks; }
  /// The members of one host.
  group_shape of_host() const noexcept {
    return {per_host == 0 ? 1 : per_host, true, forced, flags};
  }
  /// A slice, which has one member of each host. \param all whether all slices
  /// communicate at once
  group_shape of_slice(bool all) const noexcept {
    return {hosts(), hosts() == 1, forced, false, 1, all ? per_host : 1};
  }
};

/// Parts of different sizes: each pair of members agrees on that of its own.
inline constexpr std::uint64_t of_parts = (std::uint64_t{1} << 48) - 1;

/// What a collective does, as far as the choice depends on it.
struct collective_size {
  kind what;
  std::uint64_t bytes;      ///< of one rank's part; of_parts
  bool commutative = true;  ///< of a reduction
  std::size_t element = 1;  ///< bytes; of a reduction
};

/// The costs of a message by which the choice is made, in microseconds: of one without bytes, of
/// the handshake of a long one, and of a byte that crosses (latency and gap of LogGP; Alexandrov et
/// al. 1995). Constants: members must agree without a message.
struct message_costs {
  double latency;
  double handshake;
  double per_byte;

  double message(double bytes) const noexcept {
    constexpr double short_message = 64 * 1024;
    return latency + (bytes > short_message ? handshake : 0) + bytes * per_byte;
  }
};
/// Of messages between members that are as far from each other as members of the group may be.
message_costs costs_of(const group_shape& g) noexcept;
inline constexpr double reduced_byte = 1.0 / 6'000, slot_byte = 1.0 / 10'000;

struct candidate {
  const algorithm* how;
  double microseconds;
  const char* unfit = nullptr;  ///< why it cannot be used; null: it can
  bool forced = false;          ///< WEFT_COLLECTIVES asks for it
};

/// Every algorithm of a collective: first the choice, then those that can be used by cost, then the
/// others. \throws std::bad_alloc
std::vector<candidate> candidates(const collective_size& c, const group_shape& g);

/// The choice, as its place in the collective's table: the algorithm that was asked for, if it
/// serves; else the cheapest one that does.
std::uint8_t choose(const collective_size& c, const group_shape& g) noexcept;

}  // namespace weft::collectives
