// SPDX-License-Identifier: Apache-2.0
// The bytes on a connection, and the contents of offers. docs/wire-format.md, "TCP".
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <weft/transport/transport.hpp>

#include "net/tls_agreement.hpp"

namespace weft::transports::tcp {

// Numbers are sent in the byte order of memory.
static_assert(std::endian::native == std::endian::little);

inline constexpr std::uint32_t magic = 0x74666577;  // "weft"
inline constexpr std::uint16_t version = 6;

inline constexpr std::uint32_t max_payload = 256 * 1024;  // of one frame
inline constexpr std::uint32_t max_write = 1024 * 1024;   // of one `write`
inline constexpr std::size_t max_addresses = 8;           // in an offer
inline constexpr std::size_t max_reason = 1024;           // bytes of text in a note that are shown

/// frame_header::kind of what this transport itself sends between the frames of the protocol layer,
/// which uses smaller numbers.
enum class own_kind : std::uint8_t {
  write = 0xf0,     ///< its payload is for memory that the receiver expects (tag = where, packed)
  have_read = 0xf1  ///< so many writes that ask for it have been read (tag)
};

/// In frame_header::flags of a write: this one and those since the last one with this flag are
/// lent: their sender waits for `have_read`.
inline constexpr std::uint8_t asks_when_read = 0x01;

constexpr bool is_own(const frame_header& h) noexcept {
  return h.kind >= static_cast<std::uint8_t>(own_kind::write);
}

/// Random, the name of an offer. It travels unencrypted: a client that shows it has to prove more.
using token = std::array<std::uint64_t, 2>;

/// Random bytes of one side, so that no proof fits twice.
using nonce = std::array<std::byte, 32>;

/// First bytes of the connecting side, where the two do not encrypt. Where they do it begins with
/// a TLS handshake: the name of its key is the token.
struct client_hello {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t zero;
  tcp::token token;
  nonce fresh;
};
static_assert(sizeof(client_hello) == 56);

/// First bytes of the listening side, if it made that offer; otherwise it closes the connection.
struct welcome {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t zero;
  nonce fresh;
  signature proof;
};
static_assert(sizeof(welcome) == 72);

/// Next bytes of the connecting side: its proof. Frames follow, in both directions.
using confirmation = signature;

/// Bytes of an offer: where the sender listens. Without addresses: the link uses the connection
/// that the two have, or are making, already.
struct offer_head {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint8_t addresses;  ///< how many offered_address follow
  net::tls::stance encryption;
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
