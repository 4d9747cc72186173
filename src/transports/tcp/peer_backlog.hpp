// SPDX-License-Identifier: Apache-2.0
// What the other end of a local connection has not read.
#pragma once

#include <chrono>

namespace weft::transports::tcp {

/// Waits until the other end of a connection that stays on this host has read all that was written
/// here, as the kernel says of the other socket (sock_diag). Asks again and again, with pauses.
/// \return false: it has not until then, or has closed the connection, or the kernel gives no
/// answer
bool await_read_by_peer(int fd, std::chrono::steady_clock::time_point until) noexcept;

}  // namespace weft::transports::tcp
