// SPDX-License-Identifier: Apache-2.0
// Peers that connect by address and leave: what is left of them, and the meaning of their numbers
// and addresses afterwards.
#include <set>

#include <weft/endpoint.hpp>

#include "net.hpp"

using namespace net;
using weft::endpoint;
using weft::peer_id;
using weft::detail::internals;

namespace {

/// One messenger to which peers connect.
struct place {
  nodes all{2};
  side& here = all[0];
  std::size_t links_wanted = 0;

  place() {
    here.connector.on_connect = [this](peer&) { ++links_wanted; };
  }

  endpoint come() { return internals::endpoint_of(here.messages.peers().add()); }
  void go(const endpoint& who, errc how, const char* why = "it went") {
    const engine::holder hold(here.engine);
    internals::peer_of(who)->give_up(how, why);
    internals::peer_of(who)->drop_link();
  }
  /// So many peers connect and leave. \return their addresses
  std::set<const peer*> pass_by(std::size_t how_many) {
    std::set<const peer*> where;
    for (std::size_t i = 0; i != how_many; ++i) {
      const endpoint who = come();
      where.insert(internals::peer_of(who));
      go(who, errc::closed);
    }
    return where;
  }
};

}  // namespace

TEST_CASE("gone: peers that nobody has any more take no memory") {
  place p;
  CHECK(p.pass_by(1000).size() < 40);
}

TEST_CASE("gone: nor do ranks that have left, and theirs stay theirs") {
  place p;
  p.here.messages.peers().reserve_ranks(2000);
  const errc how = GENERATE(errc::closed, errc::peer_lost);
  std::set<const peer*> where;
  for (peer_id rank = 100; rank != 1100; ++rank) {
    const endpoint who = internals::endpoint_of(p.here.messages.peers().at(rank));
    where.insert(internals::peer_of(who));
    p.go(who, how);
  }
  CHECK(where.size() < 40);
  bytes data(8);
  for (const peer_id rank : {100u, 1099u}) {
    const endpoint again = internals::endpoint_of(p.here.messages.peers().at(rank));
    CHECK(again.id() == rank);
    sending send(again.send(data, tag{1}));
    CHECK(send.go().ended_with(how));
  }
  // A peer that has not connected yet is not gone.
  CHECK_FALSE(p.here.messages.peers().at(1100)->has_ended());
}

TEST_CASE("gone: numbers are never given twice") {
  place p;
  const peer_id first = p.come().id();
  std::set<peer_id> numbers;
  for (int i = 0; i != 100; ++i) {
    const endpoint who = p.come();
    numbers.insert(who.id());
    p.go(who, errc::closed);
  }
  CHECK(numbers.size() == 100);
  CHECK(*numbers.begin() == first + 1);
}

TEST_CASE("gone: an endpoint that is kept still tells who it was and why it has gone") {
  place p;
  const endpoint kept = p.come();
  const peer_id number = kept.id();
  p.go(kept, errc::protocol_error, "it sang");
  CHECK(p.pass_by(200).count(internals::peer_of(kept)) == 0);
  CHECK(kept.id() == number);
  CHECK(internals::endpoint_of(p.here.messages.peers().at(number)) == kept);
  bytes data(8);
  sending send(kept.send(data, tag{1}));
  CHECK(send.go().ended_with(errc::protocol_error));
  CHECK_THAT(send.explain(), weft::tests::contains("it sang"));
}

TEST_CASE("gone: what is asked of one that nobody has any more reaches no other") {
  place p;
  const errc how = GENERATE(errc::closed, errc::peer_lost);
  bytes data(8);
  endpoint last = p.come();
  const peer_id number = last.id();
  const peer* const where = internals::peer_of(last);
  sending send(last.send(data, tag{1}));
  receiving receive(last.recv(data, tag{1}));
  probing probe(last.probe(tag{1}));
  p.go(last, how);
  last = {};

  std::vector<endpoint> others;  // among them the peer that now has its memory
  const auto in_its_place = [&] {
    return std::any_of(others.begin(), others.end(),
                       [&](const endpoint& e) { return internals::peer_of(e) == where; });
  };
  while (others.size() < 100 && !in_its_place()) others.push_back(p.come());
  REQUIRE(in_its_place());

  CHECK(send.go().ended_with(how));
  CHECK(receive.go().ended_with(how));
  CHECK(probe.go().ended_with(how));
  CHECK(p.links_wanted == 0);
  send.cancel();
  receive.cancel();
  for (const std::string& text : {send.explain(), receive.explain(), probe.explain()})
    CHECK_THAT(text, weft::tests::contains(std::to_string(number)));

  const endpoint again = internals::endpoint_of(p.here.messages.peers().at(number));
  CHECK(again.id() == number);
  CHECK(again == internals::endpoint_of(p.here.messages.peers().at(number)));
  CHECK(internals::peer_of(again)->has_ended());
  CHECK(internals::peer_of(again)->why() == how);
}

TEST_CASE("gone: an operation that ended with it says so, whoever has its memory by then") {
  place p;
  bytes data(8);
  endpoint last = p.come();
  receiving receive(last.recv(data, tag{1}));
  CHECK_FALSE(receive.go().ended());
  p.go(last, errc::peer_lost);
  p.here.engine.poll_once();
  CHECK(receive.ended_with(errc::peer_lost));
  const std::string who = std::to_string(last.id());
  last = {};
  p.pass_by(200);
  CHECK_THAT(receive.explain(), weft::tests::contains(who));
}

TEST_CASE("gone: a number that was asked for before it was given is nobody's") {
  place p;
  const peer_id next = p.come().id() + 1;
  const endpoint early = internals::endpoint_of(p.here.messages.peers().at(next));
  bytes data(8);
  sending send(early.send(data, tag{1}));
  CHECK(send.go().ended_with(errc::unreachable));
  const endpoint met = p.come();
  CHECK(met.id() == next + 1);
  CHECK_FALSE(met == early);
  CHECK_FALSE(internals::peer_of(met)->has_ended());
}

TEST_CASE("gone: a message that arrived whole waits for its receive, with the right source") {
  place p;
  side& there = p.all[1];
  endpoint sender = p.come();
  const peer_id number = sender.id();
  weft::transports::wireup_message offer, answer;
  peer& back = there.to(0);
  {
    const engine::holder hold(there.engine);
    auto link = there.transport->open(back, {}, offer);
    const engine::holder hold_here(p.here.engine);
    REQUIRE(p.here.transport->accept(*internals::peer_of(sender), {}, std::move(offer), answer)
                .empty());
    back.opened(std::move(link), internals::peer_of(sender)->writer().grant_first_credit());
  }
  const bytes out = pattern(100);
  there.send(0, out, tag{5});
  p.all.settle();
  {
    const engine::holder hold(p.here.engine);
    p.here.transport->forget(*internals::peer_of(sender));
  }
  p.go(sender, errc::peer_lost);
  const peer* const where = internals::peer_of(sender);
  sender = {};
  CHECK(p.pass_by(200).count(where) == 0);

  bytes in(100);
  const auto receive = p.here.recv_any(in, tag{5});
  p.all.settle();
  CHECK(receive->ended_with(errc::ok));
  CHECK(receive->got.source == number);
  CHECK(in == out);
  p.pass_by(40);
  CHECK(p.pass_by(40).count(where) == 1);
}
