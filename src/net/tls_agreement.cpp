// SPDX-License-Identifier: Apache-2.0
#include "net/tls_agreement.hpp"

#include <fmt/format.h>

#include "net/tls/settings.hpp"

namespace weft::net::tls {

stance stance_of(tcp_encryption setting, bool is_here) noexcept {
  switch (setting) {
    case tcp_encryption::no:
      return stance::no;
    case tcp_encryption::yes:
      return stance::yes;
    case tcp_encryption::automatic:
      break;
  }
  if (is_here) return stance::here;
  return is_built_in() ? stance::wanted : stance::cannot;
}

stance stance_of(tcp_encryption setting, int socket) noexcept {
  bool is_here = false;
  try {
    const auto there = address::of_socket(socket, true);
    is_here = there && there->is_here();
  } catch (const std::exception&) {
    // The kernel does not tell the addresses of this host, or there is no memory.
  }
  return stance_of(setting, is_here);
}

std::string text_of(stance s) {
  switch (s) {
    case stance::no:
      return "WEFT_TCP_TLS=no";
    case stance::here:
      return "WEFT_TCP_TLS=auto, on one host";
    case stance::wanted:
      return "WEFT_TCP_TLS=auto, between hosts";
    case stance::yes:
      return "WEFT_TCP_TLS=yes";
    case stance::cannot:
      return "WEFT_TCP_TLS=auto, built without OpenSSL";
  }
  return "an unknown WEFT_TCP_TLS";
}

std::string text_of_disagreement(stance own, stance others) {
  const bool cannot = own == stance::cannot || others == stance::cannot;
  return fmt::format(
      "this side has {}, the other side {}: {}", text_of(own), text_of(others),
      cannot ? "build both with OpenSSL (libssl-dev), or set WEFT_TCP_TLS=no on both to do without "
               "encryption"
             : "set the same on both sides");
}

std::string describe(bool is_encrypted, stance own) {
  return is_encrypted ? fmt::format("encrypted ({})", describe())
                      : fmt::format("not encrypted ({})", text_of(own));
}

}  // namespace weft::net::tls
