// SPDX-License-Identifier: Apache-2.0
// Addresses of listeners, as people write them.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/fd.hpp"

namespace weft::wireup {

/// "unix://name", "any://host:port" or "tcp://host:port", taken apart.
struct listen_address {
  enum class scheme {
    unix_name,  ///< an abstract Unix socket
    any,  ///< TCP for finding it; then its Unix socket, or TCP for those who know the job's key
    tcp   ///< TCP, for those who know the job's key
  };
  scheme how = scheme::unix_name;
  std::string name;        ///< of a Unix listener
  std::string host;        ///< of the others, without brackets; empty: this host only
  std::uint16_t port = 0;  ///< of the others

  bool is_unix() const noexcept { return how == scheme::unix_name; }
};

/// \throws weft::error (invalid_argument) that says what an address looks like
listen_address parse_address(const std::string& text);

/// As people write it.
std::string to_text(const listen_address& address);

/// The abstract socket of a Unix listener: the user is part of it, so that users do not collide.
std::string listener_socket_name(const std::string& name);

/// Listens at a Unix listener. \throws weft::error (system), which says who holds the name
runtime::unique_fd listen_at_name(const listen_address& address);

/// Listens at a listener with a port; fills in the port that was chosen for port 0. Loopback only
/// when the address names no host. \throws weft::error (system, invalid_argument)
runtime::unique_fd listen_at_port(listen_address& address);

}  // namespace weft::wireup
