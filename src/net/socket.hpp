// SPDX-License-Identifier: Apache-2.0
// The system calls for TCP sockets that the control plane and the transport have in common.
#pragma once

#include "net/address.hpp"
#include "runtime/descriptors/fd.hpp"

namespace weft::net {

/// Sets an option of a socket; one that the kernel does not have is left out.
void set_option(int fd, int level, int name, int value) noexcept;

/// A TCP socket that never waits and that no program inherits. \return none: `errno` tells why
unique_fd tcp_socket(int family) noexcept;

/// What a listening socket of IPv6 takes, independent of the system's default.
enum class takes : bool { its_family, ipv4_too };

/// Listens. \param at port 0: any free one \return none: `errno` tells why
unique_fd listen_on(const address& at, takes what, int backlog) noexcept;

}  // namespace weft::net
