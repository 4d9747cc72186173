// SPDX-License-Identifier: Apache-2.0
// Simultaneous connect: both sides meet, in any order and at once; one channel results.
#include <atomic>
#include <thread>

#include "node.hpp"
#include "support/catch.hpp"

namespace weft::wireup::test {

namespace {

struct addresses {
  std::string a = "unix://meet-" + to_text(random_id());
  std::string b = "unix://meet-" + to_text(random_id());
};

/// Checks that both ends belong to the same channel, and that there is no other.
void check_one_channel(node& a, node& b, const outcome& at_a, const outcome& at_b) {
  REQUIRE(at_a.failure == "");
  REQUIRE(at_b.failure == "");
  CHECK(at_a.channel->peer().id == b->self().id);
  CHECK(at_b.channel->peer().id == a->self().id);
  at_a.channel->send(make_wireup_message(1, "from a"));
  at_b.channel->send(make_wireup_message(1, "from b"));
  const arrived in_a = a.wireup_messages.next();
  const arrived in_b = b.wireup_messages.next();
  CHECK(in_a.channel == at_a.channel);
  CHECK(in_b.channel == at_b.channel);
  CHECK(text_of(in_a.wireup_message) == "from b");
  CHECK(text_of(in_b.wireup_message) == "from a");
  at_a.channel->close();
  CHECK(a.ends.next().channel == at_a.channel);
  CHECK(b.ends.next().channel == at_b.channel);
  a.manager.reset();
  b.manager.reset();
  CHECK(a.ends.empty());
  CHECK(b.ends.empty());
}

void meet(node& n, const std::string& own, const std::string& other, const std::string& what) {
  n->meet(own, other, what, node::into(n.outcomes));
}

/// Waits until everything that a node was asked for has begun.
void settle(node& n) { CHECK(n.connect("no locator").failure != ""); }

}  // namespace

TEST_CASE("two meet, whoever comes first") {
  for (bool a_first : {true, false}) {
    // It must not matter which of the two is the smaller context.
    for (std::uint64_t id_of_a : {1u, 3u}) {
      identity who_a, who_b;
      who_a.id.words = {id_of_a, 0};
      who_b.id.words = {2, 0};
      node a(who_a), b(who_b);
      const addresses at;
      if (a_first) {
        meet(a, at.a, at.b, "x");
        settle(a);
        meet(b, at.b, at.a, "x");
      } else {
        meet(b, at.b, at.a, "x");
        settle(b);
        meet(a, at.a, at.b, "x");
      }
      const outcome at_a = a.outcomes.next(), at_b = b.outcomes.next();
      check_one_channel(a, b, at_a, at_b);
    }
  }
}

TEST_CASE("two meet at once, a hundred times") {
  for (int i = 0; i < 100; ++i) {
    node a, b;
    const addresses at;
    std::atomic<int> ready{0};
    const auto go = [&](node& n, const std::string& own, const std::string& other) {
      ready.fetch_add(1);
      while (ready.load() < 2) std::this_thread::yield();
      meet(n, own, other, "now");
    };
    std::thread one([&] { go(a, at.a, at.b); });
    std::thread two([&] { go(b, at.b, at.a); });
    one.join();
    two.join();
    const outcome at_a = a.outcomes.next(), at_b = b.outcomes.next();
    check_one_channel(a, b, at_a, at_b);
  }
}

TEST_CASE("two meet at once over TCP addresses") {
  // Ports that were free a moment ago.
  std::string first, second;
  {
    node n;
    n->open_listener("any://:0", first);
    n->open_listener("any://:0", second);
  }
  for (int i = 0; i < 20; ++i) {
    node a, b;
    meet(a, first, second, "tcp");
    meet(b, second, first, "tcp");
    const outcome at_a = a.outcomes.next(), at_b = b.outcomes.next();
    check_one_channel(a, b, at_a, at_b);
  }
}

TEST_CASE("one way is enough") {
  // b does not listen where a expects it.
  for (const auto& [id_of_a, b_first] :
       {std::pair{1u, false}, {3u, false}, {1u, true}, {3u, true}}) {
    identity who_a, who_b;
    who_a.id.words = {id_of_a, 0};
    who_b.id.words = {2, 0};
    node a(who_a), b(who_b);
    const addresses at;
    if (b_first) {
      meet(b, at.b, at.a, "x");
      settle(b);
    }
    meet(a, at.a, "unix://nowhere-" + to_text(random_id()), "x");
    if (!b_first) {
      settle(a);
      meet(b, at.b, at.a, "x");
    }
    const outcome at_a = a.outcomes.next(), at_b = b.outcomes.next();
    check_one_channel(a, b, at_a, at_b);
  }
}

TEST_CASE("discriminators keep meetings apart, also at one address") {
  node a, b;
  const addresses at;
  meet(a, at.a, at.b, "red");
  settle(a);
  meet(b, at.b, at.a, "blue");
  settle(b);
  meet(b, at.b, at.a, "red");
  const outcome red_a = a.outcomes.next(), red_b = b.outcomes.next();
  REQUIRE(red_a.channel);
  REQUIRE(red_b.channel);
  meet(a, at.a, at.b, "blue");
  const outcome blue_a = a.outcomes.next(), blue_b = b.outcomes.next();
  REQUIRE(blue_a.channel);
  REQUIRE(blue_b.channel);
  red_a.channel->send(make_wireup_message(1, "red"));
  CHECK(b.wireup_messages.next().channel == red_b.channel);
  blue_b.channel->send(make_wireup_message(1, "blue"));
  CHECK(a.wireup_messages.next().channel == blue_a.channel);
}

TEST_CASE("a context can meet itself at two addresses, but not at one") {
  node a;
  const addresses at;
  meet(a, at.a, at.b, "x");
  meet(a, at.b, at.a, "x");
  CHECK(a.outcomes.next().channel);
  CHECK(a.outcomes.next().channel);
  meet(a, at.a, at.a, "x");
  const outcome itself = a.outcomes.next();
  CHECK(itself.kind == errc::invalid_argument);
  CHECK_THAT(itself.failure, weft::tests::contains("itself"));
}

TEST_CASE("a meeting can be cancelled, and then be held again") {
  node a, b;
  const addresses at;
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t m = a->meet(at.a, at.b, "x", node::into(a.outcomes));
    a->cancel_meet(m);
    CHECK_THAT(a.outcomes.next().failure, weft::tests::contains("cancelled"));
  }
  meet(a, at.a, at.b, "x");
  meet(b, at.b, at.a, "x");
  const outcome at_a = a.outcomes.next(), at_b = b.outcomes.next();
  check_one_channel(a, b, at_a, at_b);
}

TEST_CASE("meetings that cannot be") {
  node a, b;
  const addresses at;
  meet(a, "nonsense", at.b, "x");
  CHECK_THAT(a.outcomes.next().failure, weft::tests::contains("unix://name"));
  meet(a, at.a, "nonsense", "x");
  CHECK_THAT(a.outcomes.next().failure, weft::tests::contains("unix://name"));
  meet(a, at.a, at.b, std::string(1025, 'd'));
  CHECK_THAT(a.outcomes.next().failure, weft::tests::contains("too long"));
  meet(a, at.a, at.b, "x");
  meet(a, at.a, at.b, "x");
  CHECK_THAT(a.outcomes.next().failure, weft::tests::contains("under way"));
  meet(b, at.a, at.b, "x");
  const outcome taken = b.outcomes.next();
  CHECK(taken.kind == errc::system);
  CHECK_THAT(taken.failure, weft::tests::contains("taken"));
  // A connection request of one kind is refused at a listener of the other.
  const outcome knocked = b.request_connection(at.a);
  CHECK(knocked.kind == errc::refused);
  CHECK_THAT(knocked.failure, weft::tests::contains("meet"));
  a.manager.reset();
  CHECK_THAT(a.outcomes.next().failure, weft::tests::contains("closing"));
}

}  // namespace weft::wireup::test
