// SPDX-License-Identifier: Apache-2.0
// Frames over verbs: whole, in order, within the window, and with few completions.
#include "ends.hpp"

using namespace ends;

TEST_CASE("verbs: frames of all sizes arrive as they were sent, both ways on one queue pair") {
  fabric net;
  end a(net), b(net);
  a.hardware.inline_bytes = b.hardware.inline_bytes = GENERATE(0u, 128u, 4096u);
  connect(a, b);
  connect(b, a);
  CHECK(net.ends.size() == 2);
  for (end* from : {&a, &b}) {
    end& to = from == &a ? b : a;
    for (const std::size_t size : {0u, 1u, 88u, 89u, 112u, 113u, 4096u, 8192u}) {
      const frame_extension x{size, ~std::uint64_t{size}, 7};
      to.in.frames.clear();
      REQUIRE(from->send(numbered(size), pattern(size, size)) == post::done);
      REQUIRE(from->send(numbered(size, has_extension), pattern(size, size), &x) == post::done);
      REQUIRE(from->send(numbered(size, has_extension | has_immediate), pattern(size, size), &x) ==
              post::done);
      settle(a, b);
      REQUIRE(to.in.frames.size() == 3);
      for (const recorder::frame& f : to.in.frames) {
        CHECK(f.header.tag == size);
        CHECK((f.payload == pattern(size, size)));
      }
      CHECK(!to.in.frames[0].extension);
      CHECK(to.in.frames[1].extension->b == ~std::uint64_t{size});
      CHECK(to.in.frames[1].extension->immediate == 0);
      CHECK(to.in.frames[2].extension->immediate == 7);
    }
  }
}

TEST_CASE("verbs: offers that cross make one connection") {
  fabric net;
  end a(net), b(net);
  const wireup_message of_a = a.open(), of_b = b.open();
  wireup_message to_a, to_b;
  REQUIRE(b.accept({of_a.kind, of_a.bytes, {}}, to_a) == "");
  REQUIRE(a.accept({of_b.kind, of_b.bytes, {}}, to_b) == "");
  REQUIRE(a.opened(std::move(to_a)) == "");
  REQUIRE(b.opened(std::move(to_b)) == "");
  CHECK(a.send(numbered(1)) == post::done);
  CHECK(b.send(numbered(2)) == post::done);
  settle(a, b);
  CHECK(a.in.frames.size() == 1);
  CHECK(b.in.frames.size() == 1);
  CHECK(net.ends.size() == 2);
}

TEST_CASE("verbs: a sender is as far ahead as the window, and learns of room without an answer") {
  fabric net;
  end a(net), b(net);
  connect(a, b);
  std::uint64_t sent = 0;
  while (a.send(numbered(sent), pattern(3000, sent)) == post::done) ++sent;
  CHECK(sent == verbs::window);
  CHECK(a.send(numbered(sent)) == post::busy);
  settle(a, b);
  CHECK(a.in.rooms > 0);
  // Many times round: the pool, the shared receive queue and all counts.
  while (sent != 20'000)
    if (a.send(numbered(sent), pattern(sent % 300, sent)) == post::done)
      ++sent;
    else
      settle(a, b);
  settle(a, b);
  REQUIRE(b.in.frames.size() == sent);
  for (std::size_t i = verbs::window; i != sent; ++i) {
    const recorder::frame& f = b.in.frames[i];
    if (f.header.tag != i || f.payload != pattern(i % 300, i)) FAIL("frame " << i);
  }
  CHECK(a.in.broken.empty());
  CHECK(b.in.broken.empty());
}

TEST_CASE("verbs: a completion is asked for now and then only") {
  fabric net;
  end a(net), b(net);
  connect(a, b);
  for (std::uint64_t i = 0; i != 1000; ++i) {
    REQUIRE(a.send(numbered(i), pattern(8)) == post::done);
    settle(a, b);
  }
  CHECK(a.hardware.posted == 1000);
  CHECK(a.hardware.signalled < 40);
}

TEST_CASE("verbs: more peers than the pool has slots for, each with something unsaid") {
  fabric net;
  constexpr std::size_t peers = 60;
  end all(net);
  std::vector<std::unique_ptr<end>> others;
  std::vector<std::unique_ptr<recorder>> frame_sinks;
  std::vector<std::unique_ptr<transports::link>> links;
  {
    const engine::holder hold(all.turns);
    for (std::size_t i = 0; i != peers; ++i) {
      others.push_back(std::make_unique<end>(net));
      frame_sinks.push_back(std::make_unique<recorder>());
      wireup_message offer, answer;
      links.push_back(all.transport.open(*frame_sinks.back(), all.who, offer));
      REQUIRE(others.back()->accept(std::move(offer), answer) == "");
      REQUIRE(links.back()->opened(std::move(answer)) == "");
    }
  }
  // Each uses slots, and then sends no more.
  const bytes data = pattern(5000);
  std::size_t refused = 0;
  for (std::size_t round = 0; round != 40; ++round)
    for (std::size_t i = 0; i != peers; ++i) {
      for (post answer = post::busy; answer != post::done;) {
        {
          const engine::holder hold(all.turns);
          answer = links[i]->send_contiguous({round, 5000, 1, 0, 0}, nullptr, data.data());
          REQUIRE(answer != post::failed);
        }
        if (answer == post::done) break;
        REQUIRE(++refused < 100'000);
        all.turns.poll_once();
        others[i]->turns.poll_once();
      }
    }
  for (const auto& other : others) {
    while (other->turns.poll_once() != 0) continue;
    CHECK(other->in.frames.size() == 40);
  }
  const engine::holder hold(all.turns);
  links.clear();
  for (const auto& frame_sink : frame_sinks) all.transport.forget(*frame_sink);
}

TEST_CASE("verbs: the shared receive queue is exhausted, and nothing is lost") {
  fabric net;
  end b(net);
  std::vector<std::unique_ptr<end>> senders;
  std::vector<std::unique_ptr<recorder>> frame_sinks;
  std::size_t sent = 0;
  for (int i = 0; i != 12; ++i) {
    senders.push_back(std::make_unique<end>(net));
    frame_sinks.push_back(std::make_unique<recorder>());
    wireup_message answer;
    const wireup_message offer = senders.back()->open();
    {
      const engine::holder hold(b.turns);
      REQUIRE(b.transport.accept(*frame_sinks.back(), b.who, {0, offer.bytes, {}}, answer) == "");
    }
    REQUIRE(senders.back()->opened(std::move(answer)) == "");
    while (senders.back()->send(numbered(sent)) == post::done) ++sent;
  }
  CHECK(sent == 12 * verbs::window);
  CHECK(b.hardware.receives_posted() == 0);
  CHECK(senders.back()->hardware.times_without_receive > 0);
  std::size_t arrived = 0;
  while (b.turns.poll_once() != 0) continue;
  for (const auto& in : frame_sinks) {
    arrived += in->frames.size();
    CHECK(in->broken.empty());
  }
  CHECK(arrived == sent);
  for (const auto& s : senders) {
    while (s->turns.poll_once() != 0) continue;
    CHECK(s->in.broken.empty());
    CHECK(s->send(numbered(0)) == post::done);
  }
  const engine::holder hold(b.turns);
  for (const auto& s : senders) s->drop_link();
  for (const auto& in : frame_sinks) b.transport.forget(*in);
}
