// SPDX-License-Identifier: Apache-2.0
#include "wireup/auth/context_address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "wireup/sockets/unix_socket.hpp"

namespace weft::wireup {

namespace {

constexpr std::array<std::byte, 4> magic{std::byte{'w'}, std::byte{'e'}, std::byte{'f'},
                                         std::byte{'t'}};
constexpr std::uint8_t version = 1;
constexpr std::uint8_t one_of_ipv6 = 0x80;  // in `places`
constexpr std::size_t most_of_ipv4 = 4;

/// The layout of the bytes.
struct layout {
  std::array<std::byte, 4> magic;
  std::uint8_t version;
  std::uint8_t places;  // number of IPv4 hosts, or one_of_ipv6
  std::array<std::uint8_t, 2> port;
  context_id id;
  std::array<std::byte, context_address_key_bytes> key;
  std::array<std::array<std::uint8_t, 4>, most_of_ipv4> hosts;  // in network order
};
static_assert(sizeof(layout) == sizeof(context_address::bytes));

bool is_ipv6(const tcp_place& p) { return p.host.find(':') != p.host.npos; }

std::string text_of(int family, const void* address) {
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(family, address, text, sizeof text);
  return text;
}

}  // namespace

context_address pack(const unpacked_address& p) {
  layout l{};
  l.magic = magic;
  l.version = version;
  l.id = p.id;
  std::ranges::copy(p.key.bytes(), l.key.begin());
  if (!p.where.places.empty()) {
    const std::uint16_t port = p.where.places.front().port;
    l.port = {static_cast<std::uint8_t>(port >> 8), static_cast<std::uint8_t>(port)};
  }
  for (const tcp_place& place : p.where.places) {
    if (is_ipv6(place) || l.places == most_of_ipv4) continue;
    ::inet_pton(AF_INET, place.host.c_str(), l.hosts[l.places++].data());
  }
  if (l.places == 0 && !p.where.places.empty()) {
    ::inet_pton(AF_INET6, p.where.places.front().host.c_str(), l.hosts.data());
    l.places = one_of_ipv6;
  }
  context_address c;
  std::memcpy(c.bytes.data(), &l, sizeof l);
  return c;
}

std::optional<unpacked_address> unpack(const context_address& c) {
  layout l{};
  std::memcpy(&l, c.bytes.data(), sizeof l);
  const auto port = static_cast<std::uint16_t>(l.port[0] << 8 | l.port[1]);
  if (l.magic != magic || l.version != version || (l.places != 0 && port == 0) ||
      (l.places > most_of_ipv4 && l.places != one_of_ipv6))
    return std::nullopt;
  unpacked_address p;
  p.id = l.id;
  p.where.socket_name = socket_name_of(l.id);
  p.key = job_key::of(l.key);
  if (l.places == one_of_ipv6)
    p.where.places.push_back({text_of(AF_INET6, l.hosts.data()), port});
  else
    for (std::size_t i = 0; i != l.places; ++i)
      p.where.places.push_back({text_of(AF_INET, l.hosts[i].data()), port});
  return p;
}

}  // namespace weft::wireup
