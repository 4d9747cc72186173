// SPDX-License-Identifier: Apache-2.0
// The system calls that make sockets what this transport needs.
#pragma once

#include <chrono>

#include "runtime/fd.hpp"
#include "transports/tcp/address.hpp"

namespace weft::transports::tcp {

/// Listens on a free port of an address of this host; `at` learns the port.
/// \throws weft::error (system)
runtime::unique_fd listen_on(address& at);

/// Accepts without waiting. \return none: `errno` tells why
runtime::unique_fd accept_one(int listening) noexcept;

/// Begins to connect; writable when it has ended, either way.
/// \return none: `errno` tells why
runtime::unique_fd begin_connect(const address& to, std::chrono::seconds timeout) noexcept;

/// How a connection that was begun has ended: 0, or an errno.
int connect_result(int fd) noexcept;

/// For a connection that will carry frames: nothing is delayed, and a host that does not answer
/// for `timeout` ends it.
void prepare(int fd, std::chrono::seconds timeout) noexcept;

/// How long the kernel may wait for an answer to what was sent; zero: as long as it likes.
void set_user_timeout(int fd, std::chrono::milliseconds timeout) noexcept;

/// Bytes that were written and that the other host has not acknowledged.
std::size_t unacknowledged(int fd) noexcept;

/// How long ago the other host was last heard of, if the kernel has asked something since; zero: it
/// owes no answer. A question may have been asked a moment ago: ask twice.
std::chrono::milliseconds silence(int fd) noexcept;

/// Whether the kernel has asked more than once, and nothing has been heard for `timeout`.
bool is_asked_in_vain(int fd, std::chrono::milliseconds timeout) noexcept;

}  // namespace weft::transports::tcp
