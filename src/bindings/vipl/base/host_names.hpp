// SPDX-License-Identifier: Apache-2.0
// Addresses of hosts, and where the listener of a discriminator is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <vipl.h>

namespace weft::vipl {

using host_address = std::array<std::uint8_t, 4>;  // IPv4, in network order

inline constexpr std::size_t longest_discriminator = 32;

/// The first address of an interface that is up and not the loopback; else that of the loopback.
host_address address_of_this_host();
bool is_this_host(const host_address& a);

std::vector<host_address> addresses_of(const std::string& name);
std::string name_of(const host_address& a);  ///< \return empty: it has none

/// An end of a connection, taken out of a VIP_NET_ADDRESS.
struct end_point {
  host_address host{};
  std::string discriminator;

  static std::optional<end_point> of(const VIP_NET_ADDRESS* a);
};

/// Writes an address. Its two lengths tell the room; 0 and 0: enough.
void write_address(const end_point& from, VIP_NET_ADDRESS& to) noexcept;

/// The text under which a discriminator is listened to on a host: pairs of equals have their own.
std::string place_of(const std::string& discriminator);
std::string place_of_pair(const end_point& a, const end_point& b);

/// The address for weft's `listen`, or for `connect` from anywhere.
std::string listening_address(const std::string& place);
std::string connecting_address(const host_address& host, const std::string& place);

}  // namespace weft::vipl
