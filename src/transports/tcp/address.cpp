// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/address.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weft::transports::tcp {

std::optional<address> address_of(const offered_address& o) noexcept {
  if (o.port == 0 || (o.family != 4 && o.family != 6)) return {};
  return address::of_ip(o.family == 6, o.ip, o.port);
}

offered_address to_offer(const address& a) noexcept {
  return {static_cast<std::uint8_t>(a.is_v6() ? 6 : 4), 0, a.port(), a.ip()};
}

std::vector<address> own_addresses(const std::vector<std::string>& interfaces) {
  const std::vector<net::interface_address> all = net::interface_addresses();
  for (const std::string& name : interfaces)
    if (std::ranges::find(all, name, &net::interface_address::name) == all.end())
      throw error(errc::invalid_argument,
                  fmt::format("WEFT_TCP_INTERFACES names \"{}\", which this host does not have; "
                              "`ip link` lists them",
                              name));
  std::vector<address> usual, loopback;
  for (const net::interface_address& i : all) {
    const bool named = std::ranges::find(interfaces, i.name) != interfaces.end();
    if (!i.at || !i.is_up || (!interfaces.empty() && !named)) continue;
    (i.is_loopback && !named ? loopback : usual).push_back(*i.at);
  }
  std::vector<address>& chosen = usual.empty() ? loopback : usual;
  if (chosen.empty())
    throw error(errc::unsupported, "no network interface is up and has an address");
  if (chosen.size() > max_addresses) chosen.resize(max_addresses);
  return std::move(chosen);
}

}  // namespace weft::transports::tcp
