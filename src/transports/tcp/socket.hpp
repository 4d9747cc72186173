// SPDX-License-Identifier: Apache-2.0
// The system calls for this transport's sockets.
#pragma once

#include <chrono>

#include "runtime/descriptors/fd.hpp"
#include "transports/tcp/address.hpp"

namespace weft::transports::tcp {

/// Listens on a free port of an address of this host; `at` learns the port.
/// \throws weft::error (system)
unique_fd listen_on(address& at);

/// Accepts without waiting. \return none: `errno` tells why
unique_fd accept_one(int listening) noexcept;

/// Begins to connect; the socket becomes writable when that has ended, well or not.
/// \return none: `errno` tells why
unique_fd begin_connect(const address& to, std::chrono::seconds timeout) noexcept;

/// The result of a connect that has ended: 0, or an errno.
int connect_result(int fd) noexcept;

/// Sets options of a connection that will carry frames: nothing is delayed, and a host that does
/// not answer for `timeout` ends it.
void prepare(int fd, std::chrono::seconds timeout) noexcept;

/// Whether both ends are on this host.
bool stays_here(int fd) noexcept;

/// For a connection that stays on this host: it has no congestion, and an algorithm that paces what
/// it sends (BBR) only adds pauses and work.
void use_plain_congestion_control(int fd) noexcept;

/// Whether the other side has broken the connection off.
bool is_reset(int fd) noexcept;

/// Has the connection broken off when its last descriptor is closed: what the other side has not
/// read by then counts no more.
void reset_on_close(int fd) noexcept;

/// How long the kernel may wait for an answer to sent bytes; zero: without limit.
void set_user_timeout(int fd, std::chrono::milliseconds timeout) noexcept;

/// Bytes that were written and that the other host has not acknowledged.
std::size_t unacknowledged(int fd) noexcept;

/// How long ago the other host was last heard, if the kernel has sent or probed since; zero: the
/// host owes no answer. The probe may be only a moment old: a caller checks twice.
std::chrono::milliseconds silence(int fd) noexcept;
/// How many segments the kernel has sent again, since the connection was made.
std::uint64_t segments_sent_again(int fd) noexcept;

/// Whether the kernel has probed more than once, and nothing has been received for `timeout`.
bool is_unresponsive(int fd, std::chrono::milliseconds timeout) noexcept;

}  // namespace weft::transports::tcp
