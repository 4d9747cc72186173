// SPDX-License-Identifier: Apache-2.0
// Addresses of hosts, and those of this one.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weft/error.hpp>

namespace weft::net {

/// An IPv4 or IPv6 address with a port. A value.
class address {
 public:
  /// In network order; 4 bytes and zeros for IPv4.
  using ip_bytes = std::array<std::uint8_t, 16>;

  static address of_ip(bool is_v6, const ip_bytes& ip, std::uint16_t port) noexcept;
  /// Nothing for families other than the two.
  static std::optional<address> of(const sockaddr* a) noexcept;
  /// A numeric address without a port; nothing if the text is none.
  static std::optional<address> of_text(const std::string& host) noexcept;
  /// The address of a socket's own or other end.
  static std::optional<address> of_socket(int fd, bool other_end) noexcept;

  bool is_v6() const noexcept { return any_.ss_family == AF_INET6; }
  ip_bytes ip() const noexcept;
  std::uint16_t port() const noexcept;
  std::string host() const;  ///< 192.0.2.1, 2001:db8::1
  std::string text() const;  ///< 192.0.2.1:80, [2001:db8::1]:80

  /// Whether both are of one interface; the ports do not count.
  bool is_host_of(const address& other) const noexcept;
  /// Whether it is an address of this host, the loopback included. \throws weft::error
  bool is_here() const;

  int family() const noexcept { return any_.ss_family; }
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&any_); }
  socklen_t size() const noexcept { return is_v6() ? sizeof(sockaddr_in6) : sizeof(sockaddr_in); }

 private:
  const sockaddr_in& v4() const noexcept { return reinterpret_cast<const sockaddr_in&>(any_); }
  const sockaddr_in6& v6() const noexcept { return reinterpret_cast<const sockaddr_in6&>(any_); }

  sockaddr_storage any_{};
};

/// An address of an interface of this host; several have the same name.
struct interface_address {
  std::string name;
  bool is_up = false;
  bool is_loopback = false;
  /// Nothing: of another family, or link-local, which means nothing on another host. Port 0.
  std::optional<address> at;
};

/// In the system's order. \throws weft::error (system)
std::vector<interface_address> interface_addresses();

}  // namespace weft::net
