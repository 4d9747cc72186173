// SPDX-License-Identifier: Apache-2.0
// Whether the two ends of a connection encrypt it.
#pragma once

#include <cstdint>
#include <string>

#include <weft/tcp_encryption.hpp>

#include "net/address.hpp"

namespace weft::net::tls {

/// What one end says of a connection. The numbers cross the wire.
enum class stance : std::uint8_t {
  no = 0,      ///< WEFT_TCP_TLS=no
  here = 1,    ///< auto, and the other end is on this host
  wanted = 2,  ///< auto, and it is not
  yes = 3,     ///< WEFT_TCP_TLS=yes
  cannot = 4   ///< auto, built without OpenSSL, and the other end is on another host
};
inline constexpr std::uint8_t stances = 5;

stance stance_of(tcp_encryption setting, bool is_here) noexcept;

/// The same for a connected socket. An address that cannot be judged is another host's.
stance stance_of(tcp_encryption setting, int socket) noexcept;

constexpr bool wants(stance s) noexcept { return s == stance::wanted || s == stance::yes; }
constexpr bool takes(stance s) noexcept { return s != stance::no && s != stance::cannot; }

/// One of them wants it, and the other one takes no part.
constexpr bool disagree(stance a, stance b) noexcept {
  return (wants(a) && !takes(b)) || (wants(b) && !takes(a));
}
/// Whether they encrypt, if they do not disagree.
constexpr bool encrypt(stance a, stance b) noexcept { return wants(a) || wants(b); }

/// As a user would look for it: "WEFT_TCP_TLS=auto, built without OpenSSL".
std::string text_of(stance s);
/// Why there is no connection, with the cure.
std::string text_of_disagreement(stance own, stance others);
/// For people, behind the addresses of a connection: "encrypted (TLS 1.3, ...)", or why not.
std::string describe(bool is_encrypted, stance own);

}  // namespace weft::net::tls
