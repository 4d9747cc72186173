// SPDX-License-Identifier: Apache-2.0
// Which address of a port others are told, and how long a connection waits.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::transports::verbs {

/// The addresses of a port in the order in which they are to be tried: RoCE v2 that a router knows
/// (IPv4, then IPv6), the other RoCE v2, then InfiniBand's and RoCE v1's.
std::vector<ibv_gid_entry> in_order_of_trial(std::span<const ibv_gid_entry> all,
                                             std::uint32_t port);

/// As people write an IPv6 address.
std::string text_of(const std::array<std::uint8_t, 16>& gid);

/// The name of its kind.
const char* kind_of(std::uint32_t gid_type) noexcept;

// A device repeats a packet so often. The kernel's soft device takes the next number, the largest,
// for "for ever".
inline constexpr std::uint8_t retries = 6;

/// What a queue pair's `timeout` has to be, so that a peer is lost after so much silence at most:
/// 4.096 us * 2^timeout each time.
std::uint8_t timeout_for(std::chrono::seconds timeout) noexcept;

}  // namespace weft::transports::verbs
