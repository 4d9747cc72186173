// SPDX-License-Identifier: Apache-2.0
#include "ends.hpp"

using namespace ends;
using weft::tests::contains;

TEST_CASE("negotiation: the first transport that both sides have is used") {
  end a(kinds{{"one"}, {"two"}}), b(kinds{{"one"}, {"two"}});
  CHECK(a.links.now() == state::idle);
  CHECK(a.next() == step::none);  // no link is wanted
  CHECK(a.want() == step::none);
  CHECK(a.links.now() == state::offered);
  CHECK(b.hear(a).empty());
  CHECK(b.all[0]->accepted.size() == 1);
  CHECK_FALSE(a.open());
  CHECK(a.hear(b).empty());
  CHECK(a.links.now() == state::open);
  CHECK(a.open());
  CHECK_FALSE(b.open());  // it wants none
  CHECK(b.links.now() == state::idle);
}

TEST_CASE("negotiation: after a refusal the next transport is offered, and the reason is kept") {
  end a(kinds{{"one"}, {"two"}}),
      b(kinds{{.name = "one", .refusal = "its device is busy"}, {"two"}});
  a.want();
  b.hear(a);
  a.hear(b);
  CHECK(a.links.now() == state::wanted);
  CHECK(a.next() == step::none);
  CHECK(a.links.now() == state::offered);
  b.hear(a);
  a.hear(b);
  CHECK(a.links.now() == state::open);
  const auto tried = a.attempts();
  REQUIRE(tried.size() == 2);
  CHECK(tried[0].transport == "one");
  CHECK(tried[0].trouble == "its device is busy");
  CHECK(tried[1].transport == "two");
  CHECK(tried[1].trouble.empty());
}

TEST_CASE("negotiation: a transport that cannot be opened, or reaches no peer, is passed over") {
  end a({{.name = "one", .out_of_reach = "it has no port"},
         {.name = "two", .opens = false},
         {"three"}});
  end b(kinds{{"one"}, {"two"}, {"three"}});
  CHECK(a.want() == step::none);
  b.hear(a);
  a.hear(b);
  CHECK(a.links.now() == state::open);
  CHECK(b.all[2]->accepted.size() == 1);
  CHECK(a.attempts().size() == 3);
  CHECK_THAT(a.links.refusals(), contains("one: it has no port"));
  CHECK_THAT(a.links.refusals(), contains("two: no descriptor is left"));
}

TEST_CASE("negotiation: an answer that does not work here counts as a refusal") {
  end a(kinds{{.name = "one", .trouble = "the segment is too small"}}), b(kinds{{"one"}});
  a.want();
  b.hear(a);
  a.hear(b);
  CHECK(a.links.now() == state::wanted);
  CHECK(a.next() == step::exhausted);
  CHECK_THAT(a.links.refusals(), contains("one: the segment is too small"));
  CHECK_FALSE(a.open());
}

TEST_CASE("negotiation: a transport that shares memory waits for a Unix socket") {
  const kinds both{{.name = "memory", .shares_memory = true}, {"net"}};
  end a(both, false), b(both, false);
  CHECK(a.want() == step::find_socket);
  CHECK(a.links.now() == state::finding_socket);
  CHECK(a.next() == step::none);  // not twice
  SECTION("there is none") {
    a.links.socket_tried("another host");
    CHECK(a.next() == step::none);
    b.hear(a);
    a.hear(b);
    CHECK(a.links.now() == state::open);
    CHECK(b.all[1]->accepted.size() == 1);
    CHECK_THAT(a.attempts()[0].trouble, contains("another host"));
  }
  SECTION("there is one") {
    a.links.socket_tried({});
    const auto over_unix = std::make_shared<scripted_channel>(true);
    CHECK(a.links.next({a.channel, over_unix}) == step::none);
    CHECK(a.channel->sent.empty());
    REQUIRE(over_unix->sent.size() == 1);
    CHECK(b.hear(std::move(over_unix->sent.front())).empty());
    CHECK(b.all[0]->accepted.size() == 1);
  }
}

TEST_CASE("negotiation: several links of one transport open the peer with the first answer") {
  end a(kinds{{.name = "net", .links = 3}}), b(kinds{{.name = "net", .links = 3}});
  a.want();
  CHECK(a.channel->sent.size() == 3);
  b.hear(a);
  REQUIRE(b.channel->sent.size() == 3);
  a.hear(std::move(b.channel->sent[1]));
  CHECK(a.open());
  CHECK(a.links.now() == state::open);
  a.hear(std::move(b.channel->sent[0]));
  a.hear(std::move(b.channel->sent[2]));
  CHECK(a.attempts().size() == 3);
  CHECK(b.all[0]->accepted.size() == 3);
}

TEST_CASE("negotiation: a different number of links is refused by name") {
  end a(kinds{{.name = "net", .links = 2}}), b(kinds{{.name = "net", .links = 3}});
  a.want();
  b.hear(a);
  a.hear(b);
  CHECK(a.next() == step::exhausted);
  CHECK_THAT(a.links.refusals(), contains("WEFT_TCP_LINKS"));
}

TEST_CASE("negotiation: several links that are all refused give way to the next transport") {
  end a(kinds{{.name = "net", .links = 2}, {"two"}});
  end b(kinds{{.name = "net", .links = 2, .refusal = "no"}, {"two"}});
  a.want();
  b.hear(a);
  a.hear(b);
  CHECK(a.links.now() == state::wanted);
  CHECK(a.next() == step::none);
  b.hear(a);
  a.hear(b);
  CHECK(a.open());
  CHECK(b.all[1]->accepted.size() == 1);
}

TEST_CASE("negotiation: the other side goes on to another transport before it has sent anything") {
  end a(kinds{{.name = "one", .trouble = "it cannot map it"}, {"two"}}), b(kinds{{"one"}, {"two"}});
  a.want();
  b.hear(a);
  CHECK(b.all[0]->accepted.size() == 1);
  a.hear(b);
  a.next();
  CHECK(b.hear(a).empty());
  CHECK(b.all[0]->accepted.empty());
  CHECK(b.all[1]->accepted.size() == 1);
}

TEST_CASE("negotiation: both sides offer several links at once, and share them") {
  end a(kinds{{.name = "net", .links = 2}}), b(kinds{{.name = "net", .links = 2}});
  a.want();
  b.want();
  CHECK(b.hear(a).empty());
  CHECK(a.hear(b).empty());
  CHECK(b.hear(a).empty());
  CHECK(a.hear(b).empty());
  CHECK(a.open());
  CHECK(b.open());
  CHECK(a.all[0]->accepted.size() == 2);
  CHECK(b.all[0]->accepted.size() == 2);
}

TEST_CASE("negotiation: what no correct peer says is told by name") {
  end a(kinds{{"one"}}), b(kinds{{"one"}});
  a.want();
  REQUIRE(a.channel->sent.size() == 1);
  wireup_message offer = std::move(a.channel->sent.front());
  SECTION("a short message") {
    offer.bytes.resize(3);
    CHECK_THAT(b.hear(std::move(offer)), contains("no sense"));
  }
  SECTION("an offer twice") {
    wireup_message again;
    again.kind = offer.kind;
    again.bytes = offer.bytes;
    CHECK(b.hear(std::move(offer)).empty());
    CHECK_THAT(b.hear(std::move(again)), contains("offered before"));
  }
  SECTION("a note of a transport that this side does not have") {
    offer.kind = static_cast<std::uint8_t>(link_message_kind::note);
    offer.bytes[0] = std::byte{9};
    CHECK_THAT(b.hear(std::move(offer)), contains("no correct peer"));
  }
  SECTION("an answer to nothing is no matter") {
    offer.kind = static_cast<std::uint8_t>(link_message_kind::answer);
    CHECK(b.hear(std::move(offer)).empty());
    CHECK_FALSE(b.open());
    CHECK(b.links.now() == state::idle);
  }
}

TEST_CASE("negotiation: a note reaches its transport") {
  end a(kinds{{"one"}}), b(kinds{{"one"}});
  a.want();
  b.hear(a);
  wireup_message note = pack(link_message_kind::note, {0, 0, 0, 0}, {});
  CHECK(b.hear(std::move(note)).empty());
  CHECK(b.all[0]->notes == 1);
}
