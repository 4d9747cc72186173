// SPDX-License-Identifier: Apache-2.0
// Addresses of sockets.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <optional>
#include <string>
#include <vector>

#include "transports/tcp/wire.hpp"

namespace weft::transports::tcp {

/// An IPv4 or IPv6 address with a port. A value.
class address {
 public:
  /// The address of an interface; port 0. Nothing for families other than the two, and for
  /// link-local ones, which mean nothing on another host.
  static std::optional<address> of_interface(const sockaddr* a) noexcept;
  /// The address in an offer; nothing if it makes no sense.
  static std::optional<address> of_offer(const offered_address& o) noexcept;
  /// A numeric address without a port; nothing if the text is none.
  static std::optional<address> of_text(const std::string& host) noexcept;
  /// The address of a socket's own or other end.
  static std::optional<address> of_socket(int fd, bool other_end) noexcept;

  offered_address to_offer() const noexcept;
  std::string text() const;  ///< 192.0.2.1:80, [2001:db8::1]:80

  /// Whether both are of one interface; the ports do not count.
  bool is_host_of(const address& other) const noexcept;
  /// Whether it is an address of this host, the loopback included. \throws weft::error
  bool is_here() const;

  int family() const noexcept { return any_.ss_family; }
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&any_); }
  socklen_t size() const noexcept {
    return family() == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  }

 private:
  sockaddr_in& v4() noexcept { return reinterpret_cast<sockaddr_in&>(any_); }
  sockaddr_in6& v6() noexcept { return reinterpret_cast<sockaddr_in6&>(any_); }

  sockaddr_storage any_{};
};

/// Addresses of this host that a peer may reach, at most max_addresses: of all interfaces that are
/// up, the loopback only if there is no other; or of the named interfaces.
/// \throws weft::error (invalid_argument) when a named one does not exist, (unsupported) when there
///   is none at all
std::vector<address> own_addresses(const std::vector<std::string>& interfaces);

}  // namespace weft::transports::tcp
