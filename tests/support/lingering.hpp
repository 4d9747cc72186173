// SPDX-License-Identifier: Apache-2.0
// Descriptors whose last close waits, and their way into another process.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/descriptors/fd.hpp"

namespace weft::tests {

/// A TCP socket whose last close waits, for an hour, until the other end has read the bytes in
/// between.
struct lingering_socket {
  lingering_socket() {
    const unique_fd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* const name = reinterpret_cast<sockaddr*>(&at);
    need(::bind(listening.get(), name, size) == 0);
    need(::listen(listening.get(), 1) == 0);
    need(::getsockname(listening.get(), name, &size) == 0);
    full = unique_fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    need(::connect(full.get(), name, size) == 0);
    reader = unique_fd(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const linger for_an_hour{1, 3600};
    need(::setsockopt(full.get(), SOL_SOCKET, SO_LINGER, &for_an_hour, sizeof for_an_hour) == 0);
    const std::vector<std::byte> some(64 * 1024);
    while (::send(full.get(), some.data(), some.size(), MSG_DONTWAIT) > 0) continue;
  }
  static void need(bool well) {
    if (!well) throw std::runtime_error(std::string("a lingering socket: ") + std::strerror(errno));
  }

  unique_fd full, reader;
};

/// Sends one packet of any socket, with descriptors. \return as sendmsg
inline ssize_t send_with(int socket, std::span<const std::byte> what, std::span<const int> fds) {
  std::vector<char> control(CMSG_SPACE(sizeof(int) * fds.size()));
  iovec piece{const_cast<std::byte*>(what.data()), what.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
  std::memcpy(CMSG_DATA(rights), fds.data(), sizeof(int) * fds.size());
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// A socket with a packet in its queue that holds the descriptor; and the end that sent it.
inline std::array<unique_fd, 2> wrapped(unique_fd fd) {
  int ends[2];
  lingering_socket::need(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  std::array<unique_fd, 2> both{unique_fd(ends[0]), unique_fd(ends[1])};
  const std::byte one{1};
  const int number = fd.get();
  lingering_socket::need(send_with(ends[1], {&one, 1}, {&number, 1}) == 1);
  return both;
}

}  // namespace weft::tests
