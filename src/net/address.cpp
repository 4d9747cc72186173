// SPDX-License-Identifier: Apache-2.0
#include "net/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "runtime/os/errno_hint.hpp"

namespace weft::net {

address address::of_ip(bool is_v6, const ip_bytes& ip, std::uint16_t port) noexcept {
  address made;
  if (is_v6) {
    sockaddr_in6 a{};
    a.sin6_family = AF_INET6;
    a.sin6_port = htons(port);
    std::memcpy(&a.sin6_addr, ip.data(), sizeof a.sin6_addr);
    std::memcpy(&made.any_, &a, sizeof a);
  } else {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(port);
    std::memcpy(&a.sin_addr, ip.data(), sizeof a.sin_addr);
    std::memcpy(&made.any_, &a, sizeof a);
  }
  return made;
}

std::optional<address> address::of(const sockaddr* a) noexcept {
  if (!a || (a->sa_family != AF_INET && a->sa_family != AF_INET6)) return {};
  address made;
  std::memcpy(&made.any_, a, a->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
  return made;
}

std::optional<address> address::of_text(const std::string& host) noexcept {
  ip_bytes ip{};
  if (::inet_pton(AF_INET, host.c_str(), ip.data()) == 1) return of_ip(false, ip, 0);
  if (::inet_pton(AF_INET6, host.c_str(), ip.data()) == 1) return of_ip(true, ip, 0);
  return {};
}

std::optional<address> address::of_socket(int fd, bool other_end) noexcept {
  address made;
  socklen_t size = sizeof made.any_;
  auto* const raw = reinterpret_cast<sockaddr*>(&made.any_);
  if ((other_end ? ::getpeername(fd, raw, &size) : ::getsockname(fd, raw, &size)) != 0) return {};
  if (made.family() != AF_INET && made.family() != AF_INET6) return {};
  return made;
}

address::ip_bytes address::ip() const noexcept {
  ip_bytes bytes{};
  if (is_v6())
    std::memcpy(bytes.data(), &v6().sin6_addr, sizeof(in6_addr));
  else
    std::memcpy(bytes.data(), &v4().sin_addr, sizeof(in_addr));
  return bytes;
}

std::uint16_t address::port() const noexcept {
  return ntohs(is_v6() ? v6().sin6_port : v4().sin_port);
}

std::string address::host() const {
  char text[INET6_ADDRSTRLEN] = "?";
  ::inet_ntop(family(), ip().data(), text, sizeof text);
  return text;
}

std::string address::text() const {
  return is_v6() ? fmt::format("[{}]:{}", host(), port()) : fmt::format("{}:{}", host(), port());
}

bool address::is_host_of(const address& other) const noexcept {
  // An IPv4 address mapped into IPv6 is the same host as the plain one.
  const auto plain = [](const address& a) {
    ip_bytes ip = a.ip();
    if (!a.is_v6() || !IN6_IS_ADDR_V4MAPPED(&a.v6().sin6_addr)) return of_ip(a.is_v6(), ip, 0);
    std::rotate(ip.begin(), ip.end() - sizeof(in_addr), ip.end());
    std::fill(ip.begin() + sizeof(in_addr), ip.end(), std::uint8_t{0});
    return of_ip(false, ip, 0);
  };
  const address a = plain(*this), b = plain(other);
  return a.family() == b.family() && a.ip() == b.ip();
}

bool address::is_here() const {
  if (!is_v6() && ip()[0] == 127) return true;
  return std::ranges::any_of(interface_addresses(), [this](const interface_address& own) {
    return own.at && is_host_of(*own.at);
  });
}

std::vector<interface_address> interface_addresses() {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0)
    throw error(errc::system, fmt::format("getifaddrs failed: {}", runtime::describe_errno(errno)));
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(raw, &::freeifaddrs);
  std::vector<interface_address> all;
  for (const ifaddrs* i = raw; i; i = i->ifa_next) {
    auto at = address::of(i->ifa_addr);
    if (at) {
      const address::ip_bytes ip = at->ip();
      in6_addr v6;
      std::memcpy(&v6, ip.data(), sizeof v6);
      if (at->is_v6() && IN6_IS_ADDR_LINKLOCAL(&v6))
        at.reset();
      else
        at = address::of_ip(at->is_v6(), ip, 0);
    }
    all.push_back(
        {i->ifa_name, (i->ifa_flags & IFF_UP) != 0, (i->ifa_flags & IFF_LOOPBACK) != 0, at});
  }
  return all;
}

}  // namespace weft::net
