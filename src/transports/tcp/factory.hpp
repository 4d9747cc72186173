// SPDX-License-Identifier: Apache-2.0
// Makes the transport.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weft/tcp_encryption.hpp>
#include <weft/transport/factory.hpp>
#include <weft/transport/services.hpp>
#include <weft/transport/transport.hpp>

namespace weft::transports::tcp {

/// For the table of transports.
factory kind();

struct settings {
  /// Interfaces to listen on, by name; none: all that are up.
  std::vector<std::string> interfaces;
  /// The silence after which a host that should answer is lost.
  std::chrono::seconds peer_timeout{10};
  /// Connections to each peer, each preferably to another of its addresses.
  std::uint32_t links = 1;
  /// How long bytes are written that a link has left behind.
  std::chrono::milliseconds linger{500};
  tcp_encryption encryption = tcp_encryption::automatic;
};

/// Tries whether there are TCP sockets at all.
/// \return empty, or why not and what would cure it
std::string probe();

/// \param e of the context; must outlive the transport
/// \throws weft::error when the kernel gives no epoll descriptor
std::unique_ptr<transport> make(services& e, settings s);

}  // namespace weft::transports::tcp
