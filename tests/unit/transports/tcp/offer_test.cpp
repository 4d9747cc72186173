// SPDX-License-Identifier: Apache-2.0
// The bytes of an offer, and whose addresses count.
#include "transports/tcp/connecting/offer.hpp"
#include "support/catch.hpp"

using weft::transports::counterpart;
using weft::transports::wireup_message;
using namespace weft::transports::tcp;

namespace {

offered_address at(const char* host, std::uint16_t port) {
  offered_address a = to_offer(*address::of_text(host));
  a.port = port;
  return a;
}

wireup_message message_of(const offer& o) {
  wireup_message m;
  write(o, m);
  return m;
}

}  // namespace

TEST_CASE("offer: what is written is read") {
  using weft::net::tls::stance;
  const offer says{{1, 2}, {at("198.51.100.1", 7), at("2001:db8::1", 8)}, stance::wanted};
  offer heard;
  CHECK(read(message_of(says), heard).empty());
  CHECK(heard.shown == says.shown);
  CHECK(heard.encryption == stance::wanted);
  REQUIRE(heard.where.size() == 2);
  CHECK(heard.where[1].family == 6);
  CHECK_FALSE(heard.joins());
  CHECK(read(message_of({}), heard).empty());
  CHECK(heard.joins());
}

TEST_CASE("offer: bytes that make no sense are refused with a reason") {
  const wireup_message good = message_of({{1, 2}, {at("198.51.100.1", 7)}});
  const auto refused = [](std::vector<std::byte> bytes) {
    wireup_message m;
    m.bytes = std::move(bytes);
    offer heard;
    return read(m, heard);
  };
  CHECK(refused(good.bytes).empty());
  for (std::size_t n = 0; n != good.bytes.size(); ++n)
    CHECK_FALSE(refused({good.bytes.begin(), good.bytes.begin() + static_cast<long>(n)}).empty());
  auto longer = good.bytes;
  longer.push_back({});
  CHECK_FALSE(refused(longer).empty());
  auto unknown = good.bytes;
  unknown[4] ^= std::byte{0xff};
  CHECK_THAT(refused(unknown), weft::tests::contains("speaks version"));
  auto no_stance = good.bytes;
  no_stance[7] = std::byte{weft::net::tls::stances};
  CHECK_FALSE(refused(no_stance).empty());
  offer many;
  many.where.resize(max_addresses + 1, at("198.51.100.1", 7));
  CHECK_FALSE(refused(message_of(many).bytes).empty());
}

TEST_CASE("offer: only addresses of the peer's own host count") {
  const offer says{{1, 2}, {at("198.51.100.1", 7), at("198.51.100.2", 7), at("127.0.0.1", 7)}};
  counterpart who{};
  who.hosts = {"198.51.100.2"};
  const auto far = plausible_addresses(says, who);
  REQUIRE(far.size() == 1);
  CHECK(far.front().text() == address_of(says.where[1])->text());
  who.hosts.clear();
  CHECK(plausible_addresses(says, who).size() == 1);  // the loopback: the peer is on this host
}
