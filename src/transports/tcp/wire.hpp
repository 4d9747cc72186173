// SPDX-License-Identifier: Apache-2.0
// What crosses a connection, and what offers say. docs/wire-format.md, "TCP".
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "transports/transport.hpp"

namespace weft::transports::tcp {

// Numbers cross as they lie in memory.
static_assert(std::endian::native == std::endian::little);

inline constexpr std::uint32_t magic = 0x74666577;  // "weft"
inline constexpr std::uint16_t version = 3;

inline constexpr std::uint32_t max_payload = 256 * 1024;  // of one frame
inline constexpr std::size_t max_addresses = 8;           // in an offer
inline constexpr std::size_t max_reason = 1024;           // bytes of text in a note that are shown

/// Random; who knows it is the peer that was offered it.
using token = std::array<std::uint64_t, 2>;

/// First bytes of whoever connects.
struct greeting {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t zero;
  tcp::token token;
};
static_assert(sizeof(greeting) == 24);

/// First bytes of the other side, if it knows the token; otherwise it hangs up. Frames follow, in
/// both directions.
struct welcome {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t zero;
};
static_assert(sizeof(welcome) == 8);

/// Bytes of an offer: where the sender listens. Without addresses: on the connection that the two
/// have, or are making, already.
struct offer_head {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t addresses;  ///< how many offered_address follow
  tcp::token token;
};
static_assert(sizeof(offer_head) == 24);

struct offered_address {
  std::uint8_t family;  ///< 4 or 6
  std::uint8_t zero;
  std::uint16_t port;
  std::array<std::uint8_t, 16> ip;  ///< in network order; 4 bytes and zeros for IPv4
};
static_assert(sizeof(offered_address) == 20);

}  // namespace weft::transports::tcp
