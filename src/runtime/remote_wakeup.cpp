// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote_wakeup.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <weft/error.hpp>

namespace weft::runtime {

namespace {

// A queue holds about ten datagrams unless the administrator has changed that.
constexpr int most_heard_at_once = 64;

struct address {
  explicit address(const wakeup_address& name) {
    at.sun_family = AF_UNIX;
    // The first byte is zero: the name is abstract, outside the file system.
    const auto end = fmt::format_to(at.sun_path + 1, "weft-bell-{:016x}{:016x}", name[0], name[1]);
    size = static_cast<socklen_t>(end - reinterpret_cast<char*>(&at));
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&at); }

  sockaddr_un at{};
  socklen_t size = 0;
};

[[noreturn]] void no_bell(const char* call) {
  throw error(errc::system, fmt::format("{} for a bell: {}; raise the limit on open files (ulimit "
                                        "-n), and allow Unix sockets",
                                        call, std::strerror(errno)));
}

unique_fd new_socket() {
  unique_fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) no_bell("socket");
  return fd;
}

}  // namespace

wakeup_receiver::wakeup_receiver() : fd_(new_socket()) {
  if (::getrandom(name_.data(), sizeof name_, 0) != static_cast<ssize_t>(sizeof name_))
    no_bell("getrandom");
  const address here(name_);
  if (::bind(fd_.get(), here.get(), here.size) != 0) no_bell("bind");
}

void wakeup_receiver::drain() noexcept {
  char ring;
  for (int i = 0; i != most_heard_at_once; ++i)
    if (::recv(fd_.get(), &ring, sizeof ring, MSG_DONTWAIT) < 0 && errno != EINTR) return;
}

wakeup_sender::wakeup_sender(wakeup_address name) : fd_(new_socket()) {
  const address there(name);
  if (::connect(fd_.get(), there.get(), there.size) == 0) return;
  if (errno == ECONNREFUSED || errno == EPERM || errno == EPROTOTYPE)
    throw error(errc::protocol_error, "nobody listens to the bell that the peer names");
  no_bell("connect");
}

void wakeup_sender::ring() noexcept {
  const int saved = errno;
  const char ring = 1;
  while (::send(fd_.get(), &ring, sizeof ring, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
  errno = saved;
}

}  // namespace weft::runtime
