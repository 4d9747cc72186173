// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/connecting/offer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace weft::transports::tcp {

namespace {

bool is_plausible(const address& at, const counterpart& who) {
  if (who.hosts.empty()) return at.is_here();
  return std::ranges::any_of(who.hosts, [&](const std::string& host) {
    const auto known = address::of_text(host);
    return known && known->is_host_of(at);
  });
}

}  // namespace

void write(const offer& o, wireup_message& to) {
  const offer_head head{magic, version, static_cast<std::uint8_t>(o.where.size()), o.encryption,
                        o.shown};
  const std::size_t tail = o.where.size() * sizeof(offered_address);
  to.bytes.resize(sizeof head + tail);
  std::memcpy(to.bytes.data(), &head, sizeof head);
  if (tail != 0) std::memcpy(to.bytes.data() + sizeof head, o.where.data(), tail);
}

std::string read(const wireup_message& from, offer& into) {
  constexpr const char* nonsense = "the TCP offer makes no sense";
  offer_head head;
  if (from.bytes.size() < sizeof head || !from.fds.empty()) return nonsense;
  std::memcpy(&head, from.bytes.data(), sizeof head);
  const std::size_t tail = head.addresses * sizeof(offered_address);
  if (head.magic != magic || head.addresses > max_addresses ||
      from.bytes.size() != sizeof head + tail)
    return nonsense;
  if (head.version == version && static_cast<std::uint8_t>(head.encryption) >= net::tls::stances)
    return nonsense;
  if (head.version != version)
    return fmt::format("it speaks version {} of the TCP transport, this side {}", head.version,
                       version);
  into.shown = head.token;
  into.encryption = head.encryption;
  into.where.resize(head.addresses);
  if (tail != 0) std::memcpy(into.where.data(), from.bytes.data() + sizeof head, tail);
  return {};
}

std::vector<address> plausible_addresses(const offer& o, const counterpart& who) {
  std::vector<address> all;
  for (const offered_address& one : o.where)
    if (const auto a = address_of(one); a && is_plausible(*a, who)) all.push_back(*a);
  return all;
}

}  // namespace weft::transports::tcp
