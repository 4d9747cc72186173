// SPDX-License-Identifier: Apache-2.0
// Addresses of listeners as text.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/descriptors/fd.hpp"
#include "wireup/sockets/socket_names.hpp"

namespace weft::wireup {

/// The parts of "unix://name", "any://host:port" or "tcp://host:port".
struct listen_address {
  enum class scheme {
    unix_name,  ///< an abstract Unix socket
    any,        ///< TCP to find it; then its Unix socket, or TCP for holders of the job's key
    tcp         ///< TCP, for holders of the job's key
  };
  scheme how = scheme::unix_name;
  std::string name;        ///< only of a Unix listener
  std::string host;        ///< of the other schemes, without brackets; empty: this host only
  std::uint16_t port = 0;  ///< of the other schemes

  bool is_unix() const noexcept { return how == scheme::unix_name; }
};

/// \throws weft::error (invalid_argument) that says what an address looks like
listen_address parse_address(const std::string& text);

/// The text form.
std::string to_text(const listen_address& address);

/// The abstract socket of a Unix listener. The user's id is part of the name, so that the names of
/// two users do not collide.
std::string listener_socket_name(const std::string& name);

/// Opens the socket of a Unix listener. \throws weft::error (system), which names the process that
/// holds the name
listening listen_at_name(const listen_address& address, const socket_names& names);

/// Opens the socket of a listener with a port; sets the port that was chosen for port 0. Loopback
/// only when the address names no host. \throws weft::error (system, invalid_argument)
unique_fd listen_at_port(listen_address& address);

}  // namespace weft::wireup
