// SPDX-License-Identifier: Apache-2.0
#include "wireup/sockets/tcp_socket.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <weft/error.hpp>

#include "runtime/os/errno_hint.hpp"
#include "wireup/base/byte_io.hpp"

namespace weft::wireup {

namespace {

void set(int socket, int level, int option, int value) noexcept {
  static_cast<void>(::setsockopt(socket, level, option, &value, sizeof value));
}

/// Numeric, without a port; empty if it is no IP address.
std::string host_of(const sockaddr* a) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (a->sa_family == AF_INET)
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(a)->sin_addr, text.data(),
                text.size());
  else if (a->sa_family == AF_INET6)
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(a)->sin6_addr, text.data(),
                text.size());
  return text.data();
}

std::uint16_t port_of(const sockaddr_storage& a) noexcept {
  return ntohs(a.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(a).sin6_port
                                       : reinterpret_cast<const sockaddr_in&>(a).sin_port);
}

struct address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

/// \param host numeric
address at(const std::string& host) noexcept {
  address a;
  auto& v4 = reinterpret_cast<sockaddr_in&>(a.bytes);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(a.bytes);
  if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    a.size = sizeof v4;
  } else if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    a.size = sizeof v6;
  }
  return a;
}

unique_fd listen_at(const address& where) {
  unique_fd fd(::socket(where.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  // One socket for IPv4 and IPv6, independent of the system's default.
  if (where.bytes.ss_family == AF_INET6) set(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&where.bytes), where.size) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0)
    return unique_fd();
  return fd;
}

}  // namespace

void prepare_tcp(int socket, std::chrono::seconds timeout) noexcept {
  const int total = static_cast<int>(timeout.count());
  const int step = std::max(1, total / 5);
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  // Over an idle connection the kernel probes every `step`. It gives up at the first probe at which
  // the silence has lasted for TCP_USER_TIMEOUT; that is before `total` has passed.
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, std::max(1, total / 2));
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, step);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, 100);  // the time decides, not the count
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, (total - step) * 1000);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
}

std::string host_of_peer(const std::string& name) {
  std::string host = name.substr(0, name.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return host;
}

std::string name_of_peer(int socket) {
  sockaddr_storage a{};
  socklen_t size = sizeof a;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&a), &size) != 0) return "somebody";
  return to_text(tcp_place{host_of(reinterpret_cast<const sockaddr*>(&a)), port_of(a)});
}

unique_fd listen_tcp(const std::vector<std::string>& addresses, std::uint16_t& port) {
  const bool one = addresses.size() == 1;
  unique_fd fd = listen_at(at(one ? addresses.front() : "::"));
  if (!fd && !one) fd = listen_at(at("0.0.0.0"));  // no IPv6 in the kernel
  if (!fd)
    throw error(errc::system, fmt::format("cannot listen over TCP at {}: {}",
                                          one ? addresses.front() : "any address",
                                          runtime::describe_errno(errno)));
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound), &size);
  port = port_of(bound);
  return fd;
}

std::vector<std::string> addresses_of_host(const std::vector<std::string>& interfaces) {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0)
    throw error(errc::system, fmt::format("getifaddrs: {}", runtime::describe_errno(errno)));
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(first, &::freeifaddrs);
  std::vector<std::string> v4, v6;
  for (const ifaddrs* i = first; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || (i->ifa_flags & IFF_UP) == 0) continue;
    const bool named = std::ranges::find(interfaces, i->ifa_name) != interfaces.end();
    if (interfaces.empty() ? (i->ifa_flags & IFF_LOOPBACK) != 0 : !named) continue;
    if (i->ifa_addr->sa_family == AF_INET) {
      v4.push_back(host_of(i->ifa_addr));
    } else if (i->ifa_addr->sa_family == AF_INET6) {
      const auto& a = reinterpret_cast<const sockaddr_in6*>(i->ifa_addr)->sin6_addr;
      // A link-local address is valid on one link only.
      if (!IN6_IS_ADDR_LINKLOCAL(&a)) v6.push_back(host_of(i->ifa_addr));
    }
  }
  v4.insert(v4.end(), v6.begin(), v6.end());
  if (v4.empty() && !interfaces.empty())
    throw error(
        errc::invalid_argument,
        fmt::format("no interface named in WEFT_TCP_INTERFACES ({}) is up and has an address; "
                    "`ip address` shows those that are",
                    fmt::join(interfaces, ",")));
  if (v4.empty()) v4.push_back("127.0.0.1");
  if (v4.size() > max_places) v4.resize(max_places);
  return v4;
}

arrival stream_frames::fill(int socket, std::size_t wanted) {
  if (in_.size() < wanted) in_.resize(wanted);
  while (have_ < wanted) {
    const ssize_t got = ::recv(socket, in_.data() + have_, wanted - have_, MSG_DONTWAIT);
    if (got > 0) {
      have_ += static_cast<std::size_t>(got);
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return arrival::nothing;
    } else {
      return arrival::end;  // the other side closed, or the connection broke
    }
  }
  return arrival::packet;
}

arrival stream_frames::receive(int socket, packet& into) {
  into.bytes = {};
  into.fds.clear();
  if (have_ == 0) std::vector<std::byte>().swap(in_);
  if (const arrival a = fill(socket, frame_header::size); a != arrival::packet) {
    if (have_ == 0) std::vector<std::byte>().swap(in_);
    return a;
  }
  byte_reader head(std::span<const std::byte>(in_).first(frame_header::size));
  head.get<std::uint16_t>();
  const std::size_t fds = head.get<std::uint16_t>();
  const std::size_t length = head.get<std::uint32_t>();
  if (fds != 0 || length > max_frame_body) return arrival::broken;
  const std::size_t whole = frame_header::size + length;
  if (const arrival a = fill(socket, whole); a != arrival::packet) return a;
  have_ = 0;
  into.bytes = std::span(in_).first(whole);
  return arrival::packet;
}

int stream_frames::send(int socket, const frame& f) {
  const auto head = frame_header::of(f);
  const std::size_t whole = head.size() + f.body.size();
  while (sent_ < whole) {
    const std::size_t head_sent = std::min(sent_, head.size());
    const std::size_t body_sent = sent_ - head_sent;
    std::array<iovec, 2> pieces{
        iovec{const_cast<std::byte*>(head.data()) + head_sent, head.size() - head_sent},  // NOLINT
        iovec{const_cast<std::byte*>(f.body.data()) + body_sent, f.body.size() - body_sent}};
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    const ssize_t n = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0)
      sent_ += static_cast<std::size_t>(n);
    else if (errno != EINTR)
      return errno;
  }
  sent_ = 0;
  return 0;
}

}  // namespace weft::wireup
