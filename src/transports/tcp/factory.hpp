// SPDX-License-Identifier: Apache-2.0
// Makes the transport; core::make_transport (src/api/core/core.cpp) calls it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/progress/engine.hpp"
#include "transports/transport.hpp"

namespace weft::transports::tcp {

struct settings {
  /// Interfaces to listen on, by name; none: all that are up.
  std::vector<std::string> interfaces;
  /// The silence after which a host that should answer is lost.
  std::chrono::seconds peer_timeout{10};
  /// Connections to each peer, each preferably to another of its addresses.
  std::uint32_t links = 1;
  /// How long bytes are written that a link has left behind.
  std::chrono::milliseconds linger{500};
};

/// Tries whether there are TCP sockets at all.
/// \return empty, or why not and what would cure it
std::string probe();

/// \param e of the context; must outlive the transport
/// \throws weft::error when the kernel gives no epoll descriptor
std::unique_ptr<transport> make(runtime::engine& e, settings s);

/// How the rest of a message of that size crosses, in words. \return the way, and why
std::pair<std::string, std::string> explain_rest(std::size_t size);

/// How a frame leaves, in words.
std::string explain_frame(std::size_t payload);

}  // namespace weft::transports::tcp
