// SPDX-License-Identifier: Apache-2.0
// Looks up host names, without waiting for slow name servers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wireup/loop/loop.hpp"

namespace weft::wireup {

/// The addresses of a host's name.
struct addresses_of_name {
  std::vector<asio::ip::tcp::endpoint> all;
  std::string fault;  ///< why there is no address
};

/// Nothing, if the host is a name and a server has to be asked. A numeric address, or an empty text
/// for loopback, never waits.
std::optional<asio::ip::tcp::endpoint> numeric_endpoint(const std::string& host,
                                                        std::uint16_t port);

/// Asks the system, which may take minutes and cannot be stopped. So it runs on a detached thread,
/// which owns all that it needs and takes no signals. `done` is called on the loop's thread; not if
/// the loop has ended by then. `done` may be destroyed on the other thread. Only this process's
/// application names hosts, so no peer can start such threads. \throws std::system_error when no
/// thread can be had
void look_up(const std::shared_ptr<loop>& on, const std::string& host, std::uint16_t port,
             std::function<void(addresses_of_name)> done);

}  // namespace weft::wireup
