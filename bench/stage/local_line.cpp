// SPDX-License-Identifier: Apache-2.0
#include "stage/local_line.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "wireup/sockets/unix_socket.hpp"

namespace weft::bench {
namespace {

[[noreturn]] void failed(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

unique_fd new_socket(int type) {
  unique_fd fd{::socket(AF_UNIX, type | SOCK_CLOEXEC, 0)};
  if (!fd) failed("socket");
  return fd;
}

/// The other end is a process of this user.
unique_fd checked(unique_fd line) {
  if (!wireup::credentials_of(line.get()).same_user)
    throw std::runtime_error("another user connected in the place of the other side");
  return line;
}

unique_fd be_found(pair_member& member, int type) {
  const unique_fd listening = new_socket(type);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  socklen_t size = sizeof at.sun_family;  // the kernel chooses the name
  if (::bind(listening.get(), reinterpret_cast<const sockaddr*>(&at), size) != 0) failed("bind");
  size = sizeof at;
  if (::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&at), &size) != 0)
    failed("getsockname");
  if (::listen(listening.get(), 1) != 0) failed("listen");
  const auto* const bytes = reinterpret_cast<const std::byte*>(&at);
  member.exchange({bytes, size});
  if (member.exchange({}).empty()) return {};
  unique_fd line{::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  if (!line) failed("accept");
  return checked(std::move(line));
}

unique_fd find(pair_member& member, int type) {
  const std::vector<std::byte> where = member.exchange({});
  sockaddr_un at{};
  if (where.size() > sizeof at) throw std::runtime_error("the name of a socket is too long");
  std::memcpy(&at, where.data(), where.size());
  unique_fd line = new_socket(type);
  const bool found = ::connect(line.get(), reinterpret_cast<const sockaddr*>(&at),
                               static_cast<socklen_t>(where.size())) == 0;
  member.exchange(std::span(where).first(found ? 1 : 0));
  if (!found) return {};
  return checked(std::move(line));
}

}  // namespace

unique_fd local_line(pair_member& member, int type) {
  return member.rank() == 0 ? be_found(member, type) : find(member, type);
}

}  // namespace weft::bench
