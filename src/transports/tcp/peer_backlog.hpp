// SPDX-License-Identifier: Apache-2.0
// What the other end of a local connection has not read.
#pragma once

#include <chrono>

namespace weft::transports::tcp {

/// Waits until the other end of a connection that stays on this host has read all that was written
/// here, as the kernel says of the other socket (sock_diag). Polls.
/// \return false: it has not within that time, or the kernel does not tell
bool await_read_by_peer(int fd, std::chrono::milliseconds limit) noexcept;

}  // namespace weft::transports::tcp
