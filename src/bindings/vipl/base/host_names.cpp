// SPDX-License-Identifier: Apache-2.0
#include "bindings/vipl/base/host_names.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "bindings/vipl/nic/nic.hpp"

namespace weft::vipl {

namespace {

host_address bytes_of(const sockaddr* from) noexcept {
  sockaddr_in in{};
  std::memcpy(&in, from, sizeof in);
  host_address a;
  std::memcpy(a.data(), &in.sin_addr, a.size());
  return a;
}

/// Calls `use` with each IPv4 address of an interface that is up, until it returns true.
template <class Use>
bool any_interface(Use use) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return false;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(list, &::freeifaddrs);
  for (const ifaddrs* i = list; i; i = i->ifa_next)
    if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && (i->ifa_flags & IFF_UP) != 0 &&
        use(bytes_of(i->ifa_addr), (i->ifa_flags & IFF_LOOPBACK) != 0))
      return true;
  return false;
}

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    constexpr const char* digits = "0123456789abcdef";
    text += digits[static_cast<unsigned char>(c) >> 4];
    text += digits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

std::string dotted(const host_address& a) {
  std::string text;
  for (const std::uint8_t byte : a) text += (text.empty() ? "" : ".") + std::to_string(byte);
  return text;
}

std::string name_of_this_host() {
  char name[NI_MAXHOST] = "";
  if (::gethostname(name, sizeof name) != 0) return {};
  name[sizeof name - 1] = 0;
  return name;
}

/// With or without its domain: programs cut that off.
bool is_name_of_this_host(const std::string& name) {
  const std::string own = name_of_this_host();
  return !name.empty() && (name == own || name == own.substr(0, own.find('.')));
}

/// Other hosts can connect only with a job key: then listeners use TCP.
bool reaches_other_hosts() noexcept {
  return std::getenv("WEFT_JOB_KEY") != nullptr || std::getenv("WEFT_JOB_KEY_FILE") != nullptr;
}

/// Below the ports that the kernel gives to connections.
std::string port_of(std::string_view place) {
  std::uint64_t hash = 0;
  for (const char c : place) hash = scramble(hash ^ static_cast<unsigned char>(c));
  return std::to_string(20000 + hash % 12000);
}

std::string unix_address(const std::string& place) {
  return "unix://weft-vipl-" + std::to_string(::getuid()) + "-" + place;
}

}  // namespace

host_address address_of_this_host() {
  host_address found{127, 0, 0, 1};
  any_interface([&](const host_address& a, bool loopback) {
    if (!loopback) found = a;
    return !loopback;
  });
  return found;
}

bool is_this_host(const host_address& a) {
  return a[0] == 127 || any_interface([&](const host_address& one, bool) { return one == a; });
}

std::vector<host_address> addresses_of(const std::string& name) {
  addrinfo wanted{};
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (::getaddrinfo(name.c_str(), nullptr, &wanted, &list) != 0) {
    // This host has an address by its own name, also where no service of names knows it.
    if (is_name_of_this_host(name)) return {address_of_this_host()};
    return {};
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(list, &::freeaddrinfo);
  std::vector<host_address> found;
  for (const addrinfo* i = list; i; i = i->ai_next) found.push_back(bytes_of(i->ai_addr));
  return found;
}

std::string name_of(const host_address& a) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  std::memcpy(&in.sin_addr, a.data(), a.size());
  char name[NI_MAXHOST] = "";
  if (::getnameinfo(reinterpret_cast<const sockaddr*>(&in), sizeof in, name, sizeof name, nullptr,
                    0, NI_NAMEREQD) == 0)
    return name;
  // No service of names knows this host by that address; it has a name all the same.
  return is_this_host(a) ? name_of_this_host() : std::string();
}

std::optional<end_point> end_point::of(const VIP_NET_ADDRESS* a) {
  if (!a || a->HostAddressLen != 4 || a->DiscriminatorLen > longest_discriminator)
    return std::nullopt;
  end_point e;
  std::memcpy(e.host.data(), a->HostAddress, e.host.size());
  const auto* const text = reinterpret_cast<const char*>(a->HostAddress) + e.host.size();
  e.discriminator.assign(text, a->DiscriminatorLen);
  return e;
}

void write_address(const end_point& from, VIP_NET_ADDRESS& to) noexcept {
  const std::size_t room = to.HostAddressLen + std::size_t{to.DiscriminatorLen};
  const std::size_t wanted = from.host.size() + from.discriminator.size();
  const std::size_t kept =
      room == 0 || room >= wanted
          ? from.discriminator.size()
          : (room > from.host.size() ? room - from.host.size() : std::size_t{0});
  to.HostAddressLen = static_cast<VIP_UINT16>(from.host.size());
  to.DiscriminatorLen = static_cast<VIP_UINT16>(kept);
  // The declared array of one byte is the beginning of the caller's memory.
  auto* const bytes = reinterpret_cast<std::byte*>(&to) + offsetof(VIP_NET_ADDRESS, HostAddress);
  std::memcpy(bytes, from.host.data(), from.host.size());
  std::memcpy(bytes + from.host.size(), from.discriminator.data(), kept);
}

std::string place_of(const std::string& discriminator) { return "c" + hexadecimal(discriminator); }

std::string place_of_pair(const end_point& a, const end_point& b) {
  const std::string one = dotted(a.host) + "." + hexadecimal(a.discriminator);
  const std::string two = dotted(b.host) + "." + hexadecimal(b.discriminator);
  std::uint64_t hash = 0;
  for (const char c : std::min(one, two) + "+" + std::max(one, two))
    hash = scramble(hash ^ static_cast<unsigned char>(c));
  char text[24] = "";
  std::snprintf(text, sizeof text, "p%016llx", static_cast<unsigned long long>(hash));
  return text;
}

std::string listening_address(const std::string& place) {
  return reaches_other_hosts() ? "any://0.0.0.0:" + port_of(place) : unix_address(place);
}

std::string connecting_address(const host_address& host, const std::string& place) {
  return reaches_other_hosts() ? "any://" + dotted(host) + ":" + port_of(place)
                               : unix_address(place);
}

}  // namespace weft::vipl
