// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "runtime/os/errno_hint.hpp"

namespace weft::transports::tcp {

std::optional<address> address::of_interface(const sockaddr* a) noexcept {
  address made;
  if (a && a->sa_family == AF_INET) {
    std::memcpy(&made.any_, a, sizeof(sockaddr_in));
    made.v4().sin_port = 0;
    return made;
  }
  if (a && a->sa_family == AF_INET6) {
    std::memcpy(&made.any_, a, sizeof(sockaddr_in6));
    made.v6().sin6_port = 0;
    if (IN6_IS_ADDR_LINKLOCAL(&made.v6().sin6_addr)) return {};
    return made;
  }
  return {};
}

std::optional<address> address::of_offer(const offered_address& o) noexcept {
  address made;
  if (o.port == 0) return {};
  if (o.family == 4) {
    made.v4().sin_family = AF_INET;
    made.v4().sin_port = htons(o.port);
    std::memcpy(&made.v4().sin_addr, o.ip.data(), sizeof(in_addr));
    return made;
  }
  if (o.family == 6) {
    made.v6().sin6_family = AF_INET6;
    made.v6().sin6_port = htons(o.port);
    std::memcpy(&made.v6().sin6_addr, o.ip.data(), sizeof(in6_addr));
    return made;
  }
  return {};
}

std::optional<address> address::of_text(const std::string& host) noexcept {
  offered_address o{};
  o.port = 1;
  o.family = 4;
  if (::inet_pton(AF_INET, host.c_str(), o.ip.data()) == 1) return of_offer(o);
  o.family = 6;
  if (::inet_pton(AF_INET6, host.c_str(), o.ip.data()) == 1) return of_offer(o);
  return {};
}

bool address::is_host_of(const address& other) const noexcept {
  // An IPv4 address mapped into IPv6 is the same host as the plain one.
  const auto plain = [](const address& a) {
    offered_address o = a.to_offer();
    const auto& ip = reinterpret_cast<const in6_addr&>(o.ip);
    if (o.family == 6 && IN6_IS_ADDR_V4MAPPED(&ip)) {
      std::rotate(o.ip.begin(), o.ip.end() - sizeof(in_addr), o.ip.end());
      std::fill(o.ip.begin() + sizeof(in_addr), o.ip.end(), std::uint8_t{0});
      o.family = 4;
    }
    return o;
  };
  const offered_address a = plain(*this), b = plain(other);
  return a.family == b.family && a.ip == b.ip;
}

bool address::is_here() const {
  const offered_address o = to_offer();
  if (o.family == 4 && o.ip[0] == 127) return true;
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0)
    throw error(errc::system, fmt::format("getifaddrs failed: {}", runtime::describe_errno(errno)));
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(raw, &::freeifaddrs);
  for (const ifaddrs* i = raw; i; i = i->ifa_next)
    if (const auto own = of_interface(i->ifa_addr); own && is_host_of(*own)) return true;
  return false;
}

std::optional<address> address::of_socket(int fd, bool other_end) noexcept {
  address made;
  socklen_t size = sizeof made.any_;
  auto* const raw = reinterpret_cast<sockaddr*>(&made.any_);
  if ((other_end ? ::getpeername(fd, raw, &size) : ::getsockname(fd, raw, &size)) != 0) return {};
  if (made.family() != AF_INET && made.family() != AF_INET6) return {};
  return made;
}

offered_address address::to_offer() const noexcept {
  offered_address o{};
  if (family() == AF_INET) {
    const auto& a = reinterpret_cast<const sockaddr_in&>(any_);
    o.family = 4;
    o.port = ntohs(a.sin_port);
    std::memcpy(o.ip.data(), &a.sin_addr, sizeof a.sin_addr);
  } else {
    const auto& a = reinterpret_cast<const sockaddr_in6&>(any_);
    o.family = 6;
    o.port = ntohs(a.sin6_port);
    std::memcpy(o.ip.data(), &a.sin6_addr, sizeof a.sin6_addr);
  }
  return o;
}

std::string address::text() const {
  const offered_address o = to_offer();
  char ip[INET6_ADDRSTRLEN] = "?";
  ::inet_ntop(family(), o.ip.data(), ip, sizeof ip);
  return o.family == 4 ? fmt::format("{}:{}", ip, o.port) : fmt::format("[{}]:{}", ip, o.port);
}

std::vector<address> own_addresses(const std::vector<std::string>& interfaces) {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0)
    throw error(errc::system, fmt::format("getifaddrs failed: {}", runtime::describe_errno(errno)));
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(raw, &::freeifaddrs);

  for (const std::string& name : interfaces) {
    bool there = false;
    for (const ifaddrs* i = raw; i; i = i->ifa_next) there = there || name == i->ifa_name;
    if (!there)
      throw error(errc::invalid_argument,
                  fmt::format("WEFT_TCP_INTERFACES names \"{}\", which this host does not have; "
                              "`ip link` lists them",
                              name));
  }

  std::vector<address> usual, loopback;
  for (const ifaddrs* i = raw; i; i = i->ifa_next) {
    const bool named =
        std::find(interfaces.begin(), interfaces.end(), i->ifa_name) != interfaces.end();
    if ((i->ifa_flags & IFF_UP) == 0 || (!interfaces.empty() && !named)) continue;
    const auto a = address::of_interface(i->ifa_addr);
    if (!a) continue;
    ((i->ifa_flags & IFF_LOOPBACK) != 0 && !named ? loopback : usual).push_back(*a);
  }
  std::vector<address>& chosen = usual.empty() ? loopback : usual;
  if (chosen.empty())
    throw error(errc::unsupported, "no network interface is up and has an address");
  if (chosen.size() > max_addresses) chosen.resize(max_addresses);
  return std::move(chosen);
}

}  // namespace weft::transports::tcp
