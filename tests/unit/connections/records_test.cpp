// SPDX-License-Identifier: Apache-2.0
// Small parts of connection set-up: what they keep, and what they forget.
#include "connections/inbound_transport.hpp"
#include "connections/non_rank_peers.hpp"
#include "ends.hpp"
#include "wireup/sockets/unix_socket.hpp"

using namespace ends;
using connections::inbound_transport;
using weft::tests::contains;
using verdict = inbound_transport::verdict;

TEST_CASE("attempts: those of a peer that nothing reached are kept, of the last few") {
  end here(kinds{{"one"}});
  std::vector<std::shared_ptr<proto::peer>> all;
  for (int i = 0; i != 20; ++i) all.push_back(here.messages.peers().add());
  const runtime::engine::holder hold(here.engine);
  for (const auto& p : all) {
    here.record.add(*p, {"one", "no"});
    here.record.forget(*p, errc::unreachable);
  }
  CHECK(here.record.of(*all.front()).empty());
  REQUIRE(here.record.of(*all.back()).size() == 1);
  CHECK(here.record.of(*all.back())[0].trouble == "no");
  here.record.add(*here.peer, {"one", ""});
  here.record.forget(*here.peer, errc::closed);
  CHECK(here.record.of(*here.peer).empty());
}

TEST_CASE("non-rank peers: one peer for each lane of a context, until it is closed") {
  end here(kinds{{"one"}});
  connections::non_rank_peers known(here.messages);
  wireup::identity who;
  who.id.words = {1, 2};
  const auto counts = connections::peer_counts::until_ended;
  const auto first = known.with(who, counts);
  CHECK(known.with(who, counts) == first);
  wireup::identity other = who;
  other.id.words = {1, 3};
  CHECK(known.with(other, counts) != first);
  other = who;
  other.lane = 1;
  CHECK(known.with(other, counts) != first);
  {
    const runtime::engine::holder hold(here.engine);
    first->end({errc::closed, "it has left"});
  }
  const auto second = known.with(who, counts);
  CHECK(second != first);
  known.erase(who.id_of_lane(), *first);  // it does not stand for the lane any more
  CHECK(known.with(who, counts) == second);
  known.erase(who.id_of_lane(), *second);
  CHECK(known.with(who, counts) != second);
}

TEST_CASE("non-rank peers: the address and the lane of a peer are kept") {
  end here(kinds{{"one"}});
  connections::non_rank_peers known(here.messages);
  wireup::unpacked_address where;
  where.id.words = {7, 7};
  where.where.socket_name = "there";
  const auto p = known.at(where, 2);
  REQUIRE(known.place_of(*p));
  CHECK(known.place_of(*p)->lane == 2);
  CHECK(known.place_of(*p)->address->where.socket_name == "there");
  CHECK_FALSE(known.place_of(*here.peer));
}

TEST_CASE("non-rank peers: one that has come by itself leads to its other lanes") {
  end here(kinds{{"one"}});
  connections::non_rank_peers known(here.messages);
  wireup::identity who;
  who.id.words = {7, 7};
  who.locator = wireup::socket_name_of(who.id);
  const auto p = known.with(who, connections::peer_counts::until_ended);
  CHECK_FALSE(known.place_of(*p)->address);
  const auto other = known.lane_of(*p, 3);
  REQUIRE(other);
  CHECK(other != p);
  CHECK(known.lane_of(*p, 3) == other);
  CHECK(known.lane_of(*other, 0) == p);
  CHECK(known.place_of(*other)->lane == 3);
  CHECK(known.place_of(*other)->address->where.socket_name == who.locator);
  CHECK_FALSE(known.lane_of(*here.peer, 1));  // not known here
}

TEST_CASE("non-rank peers: an address keeps its key when another lane comes by itself") {
  end here(kinds{{"one"}});
  connections::non_rank_peers known(here.messages);
  wireup::unpacked_address where;
  where.id.words = {7, 7};
  where.where.socket_name = "there";
  where.key = wireup::job_key::random(wireup::context_address_key_bytes);
  const auto first = known.at(where, 0);
  wireup::identity who;
  who.id = where.id;
  who.lane = 1;
  who.locator = wireup::socket_name_of(who.id);
  const auto second = known.with(who, connections::peer_counts::until_ended);
  CHECK(known.lane_of(*second, 0) == first);
  CHECK(known.place_of(*first)->address->key.to_text() == where.key.to_text());
  const auto third = known.lane_of(*second, 2);
  REQUIRE(third);
  CHECK(known.place_of(*third)->address->key.to_text() == where.key.to_text());
}

TEST_CASE("inbound transport: the order of offers") {
  inbound_transport in;
  CHECK(in.offered(1, 0) == verdict::first);
  CHECK_FALSE(in.way());
  in.accepted();
  CHECK(in.way() == 1);
  CHECK(in.offered(1, 1) == verdict::further);
  CHECK(in.offered(1, 1) == verdict::nonsense);  // twice
  CHECK(in.offered(2, 0) == verdict::instead);
  CHECK(in.offered(0, 0) == verdict::nonsense);  // back
}

TEST_CASE("inbound transport: offers have an end") {
  inbound_transport in;
  std::size_t taken = 0;
  for (std::uint16_t place = 0; place != 1000; ++place)
    taken += in.offered(place, 0) != verdict::nonsense;
  CHECK(taken == inbound_transport::most_offers);
}

TEST_CASE("link messages: a reason is shown whole, printable, and not too long") {
  CHECK(
      connections::reason_text(connections::pack_reason(errc::out_of_memory, "no page is left")) ==
      "the other side gave the connection up: out of memory (\"no page is left\")");
  CHECK(connections::reason_text(connections::pack_reason(errc::peer_lost, "")) ==
        "the other side gave the connection up: lost");
  wireup_message strange = connections::pack_reason(errc::peer_lost, "a\n\x1b[31mb");
  CHECK_THAT(connections::reason_text(strange), !contains("\n") && !contains("\x1b"));
  CHECK(connections::reason_text(connections::pack_reason(errc::peer_lost, std::string(4096, 'x')))
            .size() < 1000);
  strange.bytes.resize(2);
  CHECK(connections::reason_text(strange) == "it gave this side up");
}
