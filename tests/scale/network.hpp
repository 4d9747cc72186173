// SPDX-License-Identifier: Apache-2.0
// The modelled machine: what a message costs, by what lies between two ranks.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/message.hpp>

#include "collectives/select.hpp"

namespace scale {

using picoseconds = std::chrono::duration<std::int64_t, std::pico>;
using weft::peer_id;

/// The largest border between two ranks: of cores of one socket, of sockets of one host, of hosts
/// of one rack, of racks.
enum class level : std::uint8_t { core, socket, host, rack };
inline constexpr std::size_t levels = 4;
std::string_view name_of(level l) noexcept;

/// LogGP (Alexandrov et al. 1995) for one level.
struct message_cost {
  double latency = 0;   ///< L, µs
  double overhead = 0;  ///< o, µs of processor time at each end, for each frame
  double gap = 0;       ///< g, µs between the beginnings of two frames at one port
  double per_byte = 0;  ///< G, µs
};

/// How ranks fill the machine: in order.
struct placement {
  peer_id per_socket = 32;
  peer_id sockets = 2;
  peer_id hosts = 16;  ///< of a rack

  peer_id per_host() const noexcept { return per_socket * sockets; }
  peer_id per_rack() const noexcept { return per_host() * hosts; }
};

/// A machine. Frames inside a host leave and enter by a port of each rank (its share of the
/// memory); frames between hosts by the port of the host, which all its ranks share. A port takes
/// one frame after the other. Switches have no contention.
struct network {
  std::array<message_cost, levels> costs;
  placement places;
  double reduced_byte = 1.0 / 6'000;  ///< µs that a rank computes for a byte that it reduces

  const message_cost& cost(level l) const noexcept { return costs[static_cast<std::size_t>(l)]; }
  level between(peer_id a, peer_id b) const noexcept;
  peer_id host_of(peer_id rank) const noexcept { return rank / places.per_host(); }
  /// What all ranks of a job know of it. Simulated ranks share no memory.
  weft::collectives::group_shape shape(
      peer_id ranks, const weft::collectives::forced_choices& forced = {}) const noexcept;
  /// How many ranks of a group share what lies within a level: the ranks of a socket for `socket`.
  peer_id within(level l) const noexcept;

  /// Memory inside hosts, and InfiniBand of 100 Gbit/s; docs/testing.md has the sources
  static network rdma() noexcept;
  /// The same hosts, and TCP.
  static network tcp() noexcept;
};

constexpr picoseconds in_picoseconds(double microseconds) noexcept {
  return picoseconds(static_cast<std::int64_t>(microseconds * 1e6 + 0.5));
}
constexpr double in_microseconds(picoseconds t) noexcept {
  return static_cast<double>(t.count()) / 1e6;
}

}  // namespace scale
