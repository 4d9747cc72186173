// SPDX-License-Identifier: Apache-2.0
// Hosts' names, and those who answer for them, slowly or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wireup/loop.hpp"

namespace weft::wireup {

/// What a host's name stands for.
struct addresses_of_name {
  std::vector<asio::ip::tcp::endpoint> all;
  std::string fault;  ///< why there are none
};

/// Nothing, if it is a name: somebody has to be asked. A numeric address, or an empty text for
/// loopback, never waits for anybody.
std::optional<asio::ip::tcp::endpoint> numeric_endpoint(const std::string& host,
                                                        std::uint16_t port);

/// Asks the system, which may take minutes and cannot be stopped: on a thread of its own that
/// nobody waits for. It owns all that it needs, and takes no signals. `done` is called on the
/// loop's thread; not if the loop has ended by then. It may be destroyed on the other thread. Only
/// this process's application names hosts, so that no peer can start such threads. \throws
/// std::system_error when there is no thread to be had
void look_up(const std::shared_ptr<loop>& on, const std::string& host, std::uint16_t port,
             std::function<void(addresses_of_name)> done);

}  // namespace weft::wireup
