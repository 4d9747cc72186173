// SPDX-License-Identifier: Apache-2.0
// Descriptors that come over Unix sockets (SCM_RIGHTS).
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstring>

namespace weft::runtime {

/// Whether the other side can send descriptors over this Unix socket (SO_PASSRIGHTS). A socket that
/// listens hands its setting on to clients, also to those that are not accepted yet. Without
/// effect before Linux 6.16: there everyone can send them, always.
/// \return whether it has an effect
bool let_descriptors_in(int socket, bool wanted) noexcept;

/// Space for so many descriptors of one packet.
template <std::size_t Most>
using rights_space = std::array<std::byte, CMSG_SPACE(sizeof(int) * Most)>;

/// SCM_MAX_FD: no packet carries more.
inline constexpr std::size_t most_rights = 253;

/// Calls `take(fd)` for each descriptor that came with a message. The caller owns it from then on.
template <class Take>
void take_descriptors(msghdr& message, const Take& take) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i != count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      take(fd);
    }
  }
}

}  // namespace weft::runtime
