// SPDX-License-Identifier: Apache-2.0
// Which address of a port is told to peers, and how long a connection waits.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::transports::verbs {

/// The addresses of a port in the order of trial: RoCE v2 addresses that a router knows (IPv4, then
/// IPv6), the other RoCE v2 addresses, then those of InfiniBand and RoCE v1.
std::vector<ibv_gid_entry> in_order_of_trial(std::span<const ibv_gid_entry> all,
                                             std::uint32_t port);

/// The usual text form of an IPv6 address.
std::string text_of(const std::array<std::uint8_t, 16>& gid);

/// The name of the address's kind.
const char* kind_of(std::uint32_t gid_type) noexcept;

// How often a device repeats a packet. The kernel's software device takes the next larger number,
// the maximum, to mean "without limit".
inline constexpr std::uint8_t retries = 6;

/// The value for a queue pair's `timeout`, so that a peer is lost after so much silence at most:
/// 4.096 us * 2^timeout each time.
std::uint8_t timeout_for(std::chrono::seconds timeout) noexcept;

}  // namespace weft::transports::verbs
