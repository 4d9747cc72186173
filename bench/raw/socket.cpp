// SPDX-License-Identifier: Apache-2.0
// TCP without a library: two processes that spin on non-blocking sockets.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "raw/raw.hpp"
#include "support/clock.hpp"
#include "support/hosts.hpp"
#include "support/pair.hpp"
#include "support/plan.hpp"

namespace weft::bench::raw {
namespace {

class unique_fd {
 public:
  unique_fd() = default;
  explicit unique_fd(int fd) noexcept : fd_(fd) {}
  unique_fd(unique_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  unique_fd& operator=(unique_fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~unique_fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

[[noreturn]] void fail(const char* call) {
  throw std::system_error(errno, std::system_category(), call);
}

unique_fd new_socket(int flags) {
  unique_fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!fd) fail("socket");
  return fd;
}

/// Two ends of one connection, made before the processes part: over the loopback interface, or
/// from host to host.
std::array<unique_fd, 2> connected(const std::optional<hosts>& apart) {
  unique_fd listening = new_socket(0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = apart ? ::inet_addr(hosts::address(0)) : htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  auto* const raw = reinterpret_cast<sockaddr*>(&at);
  if (::bind(listening.get(), raw, size) != 0 || ::listen(listening.get(), 1) != 0 ||
      ::getsockname(listening.get(), raw, &size) != 0)
    fail("listening");
  if (apart) apart->enter(1);  // the next socket is opened on that host
  std::array<unique_fd, 2> ends;
  ends[1] = new_socket(0);
  if (apart) apart->enter(0);
  if (::connect(ends[1].get(), raw, size) != 0) fail("connect");
  ends[0] = unique_fd(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!ends[0]) fail("accept4");
  const int on = 1;
  for (const unique_fd& fd : ends) ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return ends;
}

void send_all(int fd, std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t n = ::send(fd, data.data(), data.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN) fail("send");
    if (n > 0) data = data.subspan(static_cast<std::size_t>(n));
  }
}

void receive_all(int fd, std::span<std::byte> into) {
  while (!into.empty()) {
    const ssize_t n = ::recv(fd, into.data(), into.size(), MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN)) fail("recv");
    if (n > 0) into = into.subspan(static_cast<std::size_t>(n));
  }
}

}  // namespace

std::vector<double> socket_latency_us(std::size_t size, const job& what) {
  const plan loops = latency_plan(size, what.effort);
  std::optional<hosts> apart;
  if (what.hosts) apart.emplace();
  const auto ends = connected(apart);
  return run_pair({.name = "raw socket", .max_samples = loops.batches}, [&](forked_member& self) {
    const int fd = ends[static_cast<std::size_t>(self.rank())].get();
    std::vector<std::byte> data(size);
    const auto rounds = [&](std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        if (self.rank() == 0) send_all(fd, data);
        receive_all(fd, data);
        if (self.rank() == 1) send_all(fd, data);
      }
    };
    rounds(loops.warm_up);
    for (std::size_t batch = 0; batch < loops.batches; ++batch) {
      const auto start = now_ns();
      rounds(loops.per_batch);
      if (self.rank() == 0)
        self.report(us_between(start, now_ns()) / 2.0 / static_cast<double>(loops.per_batch));
    }
  })[0];
}

std::vector<double> socket_bandwidth_mb_s(std::size_t size, const job& what) {
  const plan loops = window_plan(size, what.window, what.effort);
  std::optional<hosts> apart;
  if (what.hosts) apart.emplace();
  const auto ends = connected(apart);
  return run_pair({.name = "raw socket", .max_samples = loops.batches}, [&](forked_member& self) {
    const bool sender = self.rank() == 0;
    const int fd = ends[static_cast<std::size_t>(self.rank())].get();
    std::vector<std::vector<std::byte>> buffers(what.buffer_count(), std::vector<std::byte>(size));
    std::byte ack{};
    std::size_t next = 0;
    const auto windows = [&](std::size_t count) {
      for (std::size_t w = 0; w < count; ++w) {
        for (std::size_t i = 0; i < what.window; ++i, ++next) {
          std::vector<std::byte>& data = buffers[next % buffers.size()];
          if (sender)
            send_all(fd, data);
          else
            receive_all(fd, data);
        }
        if (sender)
          receive_all(fd, {&ack, 1});
        else
          send_all(fd, {&ack, 1});
      }
    };
    windows(loops.warm_up);
    const auto bytes = static_cast<double>(loops.per_batch * what.window * size);
    for (std::size_t batch = 0; batch < loops.batches; ++batch) {
      const auto start = now_ns();
      windows(loops.per_batch);
      if (sender) self.report(bytes / us_between(start, now_ns()));
    }
  })[0];
}

}  // namespace weft::bench::raw
