// SPDX-License-Identifier: Apache-2.0
// Offers of TCP connections: each is refused with a reason, or says the same when it is written
// again, and no address of another host counts.
#include <algorithm>

#include "target.hpp"
#include "transports/tcp/connecting/offer.hpp"

namespace weft::fuzz {

namespace {
using namespace transports;
}

void run(input in) {
  counterpart who{};
  who.hosts = {"192.0.2.1", "2001:db8::1"};
  wireup_message said;
  const std::span<const std::byte> all = in.rest();
  said.bytes.assign(all.begin(), all.end());
  tcp::offer heard;
  if (!tcp::read(said, heard).empty()) return;
  check(heard.where.size() <= tcp::max_addresses, "a bounded number of addresses");
  wireup_message again;
  tcp::write(heard, again);
  check(again.bytes == said.bytes, "what was read is what was said");
  for (const tcp::address& a : tcp::plausible_addresses(heard, who))
    check(std::ranges::any_of(
              who.hosts,
              [&](const std::string& host) { return tcp::address::of_text(host)->is_host_of(a); }),
          "only addresses of the peer's host count");
}

}  // namespace weft::fuzz
