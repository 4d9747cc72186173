// SPDX-License-Identifier: Apache-2.0
// Which receive the next message meets, as its sender works it out.
#include <vector>

#include <weft/transport/frame.hpp>

#include "proto/rendezvous/early_sends.hpp"
#include "support/catch.hpp"

using weft::first_reserved_tag;
using weft::proto::early_receive;
using weft::proto::early_sends;
using weft::proto::most_early;

namespace {

/// The sender's side, and the credit that it would have.
struct informed_sender {
  early_sends known;
  std::int64_t credit = 100'000;

  void send(std::uint64_t tag, std::uint32_t units = 6) {
    known.sent(tag, units, true);
    credit -= units;
  }
  /// \param behind units that had not arrived when the peer announced
  bool announced(const std::vector<early_receive>& what, std::int64_t behind = 0) {
    return known.on_early(reinterpret_cast<const std::byte*>(what.data()),
                          what.size() * sizeof(early_receive),
                          static_cast<std::uint64_t>(credit + behind), credit);
  }
};

}  // namespace

TEST_CASE("early sends: each message takes the first receive with its tag") {
  informed_sender s;
  REQUIRE(s.announced({{7, 1000, 1}, {8, 1000, 2}, {7, 2000, 3}}));
  CHECK(s.known.find(7, 1000) == 1);
  CHECK(s.known.find(7, 1001) == 0);  // the receive that it will meet has not the room
  CHECK(s.known.find(9, 1) == 0);
  s.send(7);
  CHECK(s.known.find(7, 2000) == 3);
  CHECK(s.known.find(8, 1000) == 2);
  s.known.on_end(3);
  s.known.on_end(77);
  CHECK(s.known.find(7, 1) == 0);
  CHECK(s.known.known() == 1);
}

TEST_CASE("early sends: messages that were under way are replayed") {
  informed_sender s;
  s.send(7);  // taken in before the receives were announced
  s.send(8);  // these two were not
  s.send(7, 20);
  REQUIRE(s.announced({{7, 1000, 1}, {7, 1000, 2}}, 26));
  CHECK(s.known.find(7, 1) == 2);
  // They are not replayed again.
  REQUIRE(s.announced({{7, 1000, 3}, {8, 1000, 4}}, 20));
  CHECK(s.known.find(7, 1) == 2);
  CHECK(s.known.find(8, 1) == 4);
}

TEST_CASE("early sends: a message that took a receive takes no other one") {
  informed_sender s;
  REQUIRE(s.announced({{7, 1000, 1}}));
  s.send(7);
  REQUIRE(s.announced({{7, 1000, 2}}, 6));
  CHECK(s.known.find(7, 1) == 2);
}

TEST_CASE("early sends: with too many messages under way, what is announced is not used") {
  informed_sender s;
  for (int i = 0; i != 300; ++i) s.send(8);
  REQUIRE(s.announced({{7, 1000, 1}}, 300 * 6));
  CHECK(s.known.known() == 0);
  REQUIRE(s.announced({{7, 1000, 2}}, 256 * 6));
  CHECK(s.known.find(7, 1) == 2);
}

TEST_CASE("early sends: what no correct peer announces is refused, and memory is bounded") {
  informed_sender s;
  s.send(7);
  CHECK_FALSE(s.announced({}));
  CHECK_FALSE(s.announced(std::vector<early_receive>(33)));
  CHECK_FALSE(s.announced({{7, 1, 1}}, -1));  // fewer than this side has left
  CHECK_FALSE(s.announced({{7, 1, 1}}, 7));   // more than it has sent
  CHECK_FALSE(s.announced({{first_reserved_tag, 1, 1}}));
  CHECK_FALSE(s.announced({{7, 1, 0}}));
  REQUIRE(s.announced({{7, 1, 5}}));
  CHECK_FALSE(s.announced({{7, 1, 5}}));
  early_receive one{7, 1, 6};
  CHECK_FALSE(s.known.on_early(reinterpret_cast<const std::byte*>(&one), sizeof one - 1, 0, 0));
  for (std::uint64_t i = 0; i != 2 * most_early; ++i) REQUIRE(s.announced({{9, 1, 10 + i}}));
  CHECK(s.known.known() == most_early);
}
