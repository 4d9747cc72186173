// SPDX-License-Identifier: Apache-2.0
#include "net/socket.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace weft::net {

void set_option(int fd, int level, int name, int value) noexcept {
  static_cast<void>(::setsockopt(fd, level, name, &value, sizeof value));
}

unique_fd tcp_socket(int family) noexcept {
  return unique_fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
}

unique_fd listen_on(const address& at, takes what, int backlog) noexcept {
  unique_fd fd = tcp_socket(at.family());
  if (!fd) return fd;
  // A port is free again at once when its listener has ended.
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (at.is_v6()) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, what == takes::its_family);
  if (::bind(fd.get(), at.get(), at.size()) == 0 && ::listen(fd.get(), backlog) == 0) return fd;
  const int fault = errno;
  fd = {};
  errno = fault;
  return fd;
}

}  // namespace weft::net
