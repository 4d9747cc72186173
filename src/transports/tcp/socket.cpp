// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/socket.hpp"

#include <fmt/format.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "net/socket.hpp"
#include "runtime/os/errno_hint.hpp"

namespace weft::transports::tcp {

namespace {

// From kernel 6.15 on; headers are older.
constexpr int tcp_rto_max_ms = 44;

/// Zeros if the kernel does not tell.
tcp_info info_of(int fd) noexcept {
  tcp_info now{};
  socklen_t size = sizeof now;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &now, &size) != 0) return {};
  return now;
}

/// How many milliseconds ago anything was received.
std::uint32_t heard(const tcp_info& now) noexcept {
  return std::min(now.tcpi_last_ack_recv, now.tcpi_last_data_recv);
}

}  // namespace

unique_fd listen_on(address& at) {
  constexpr int backlog = 256;
  unique_fd fd = net::listen_on(at, net::takes::its_family, backlog);
  if (!fd)
    throw error(errc::system,
                fmt::format("cannot listen on {}: {}", at.text(), runtime::describe_errno(errno)));
  const auto bound = address::of_socket(fd.get(), false);
  if (!bound) throw error(errc::system, fmt::format("getsockname: {}", std::strerror(errno)));
  at = *bound;
  return fd;
}

unique_fd accept_one(int listening) noexcept {
  return unique_fd(::accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

unique_fd begin_connect(const address& to, std::chrono::seconds timeout) noexcept {
  unique_fd fd = net::tcp_socket(to.family());
  if (!fd) return {};
  prepare(fd.get(), timeout);
  if (::connect(fd.get(), to.get(), to.size()) == 0 || errno == EINPROGRESS) return fd;
  return {};
}

int connect_result(int fd) noexcept {
  int code = 0;
  socklen_t size = sizeof code;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno;
}

void prepare(int fd, std::chrono::seconds timeout) noexcept {
  constexpr int probes = 3;
  const int seconds = static_cast<int>(timeout.count());
  net::set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  // A quiet connection is probed after half of the time, and then so often that the rest suffices.
  net::set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  net::set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, std::max(1, seconds / 2));
  net::set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, std::max(1, seconds / 2 / probes));
  net::set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, probes);
  set_user_timeout(fd, timeout);
  // The kernel probes a peer that reads nothing less and less often, in the end every two minutes:
  // then the death of its host would be found too late. Where this option is missing, the control
  // plane finds it.
  net::set_option(fd, IPPROTO_TCP, tcp_rto_max_ms, std::max(1000, seconds * 1000 / 4));
}

bool stays_here(int fd) noexcept {
  const auto here = address::of_socket(fd, false), there = address::of_socket(fd, true);
  return here && there && here->is_host_of(*there);
}

/// Every process may choose reno, on every kernel. Where a kernel refuses, nothing is lost.
void use_plain_congestion_control(int fd) noexcept {
  constexpr std::string_view plain = "reno";
  ::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, plain.data(), plain.size());
}

bool is_reset(int fd) noexcept { return info_of(fd).tcpi_state == TCP_CLOSE; }

void reset_on_close(int fd) noexcept {
  const linger at_once{1, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

void set_user_timeout(int fd, std::chrono::milliseconds timeout) noexcept {
  net::set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(timeout.count()));
}

std::size_t unacknowledged(int fd) noexcept {
  int bytes = 0;
  return ::ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

std::uint64_t segments_sent_again(int fd) noexcept { return info_of(fd).tcpi_total_retrans; }

std::chrono::milliseconds silence(int fd) noexcept {
  const tcp_info now = info_of(fd);
  const bool owes_acknowledgement = now.tcpi_unacked != 0 && now.tcpi_last_data_sent < heard(now);
  const bool was_probed = now.tcpi_probes != 0;  // zero again after the answer
  return std::chrono::milliseconds(owes_acknowledgement || was_probed ? heard(now) : 0);
}

bool is_unresponsive(int fd, std::chrono::milliseconds timeout) noexcept {
  const tcp_info now = info_of(fd);
  const bool again = now.tcpi_retransmits != 0 || now.tcpi_probes != 0;
  return again && std::chrono::milliseconds(heard(now)) > timeout;
}

}  // namespace weft::transports::tcp
