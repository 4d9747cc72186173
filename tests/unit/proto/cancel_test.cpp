// SPDX-License-Identifier: Apache-2.0
// Cancelling sends, receives and probes at every stage; probes.
#include "net.hpp"

using namespace net;
using weft::any_tag;
using weft::detail::probe_request;
using weft::detail::send_mode;
using weft::proto::frame_kind;

namespace {

probing probe_of(side& s, fake::node from, tag_mask t) {
  return probing(probe_request{&s.messages, &s.to(from), t});
}

}  // namespace

TEST_CASE("cancel: before the start") {
  nodes n(2);
  bytes data = pattern(10);
  sending send(weft::detail::send_request{&n[0].to(1), tag{1}, weft::const_buffer(data)});
  send.cancel();
  CHECK(send.go().ended_with(errc::stopped));
  receiving receive(
      weft::detail::recv_request{&n[0].messages, nullptr, any_tag, weft::mutable_buffer(data)});
  receive.cancel();
  CHECK(receive.go().ended_with(errc::stopped));
  probing probe(probe_request{&n[0].messages, nullptr, any_tag});
  probe.cancel();
  CHECK(probe.go().ended_with(errc::stopped));
}

TEST_CASE("cancel: a receive after any number of steps ends at once and lets go of its buffer") {
  fake::settings s;
  s.memory = GENERATE(fake::memory::hidden, fake::memory::readable, fake::memory::refused_late);
  const auto mode = GENERATE(send_mode::standard, send_mode::synchronous);
  // A receiver that has not sent to the sender yet must make a link before it can answer.
  const bool linked = GENERATE(true, false);
  for (const std::size_t size : {0u, 44u, 60'000u, 400'000u}) {
    int steps = 0;
    for (bool quiet = false; !quiet; ++steps) {
      CAPTURE(size, steps, linked, static_cast<int>(mode));
      nodes n(2, s);
      const bytes out = pattern(size, 5);
      const bytes next = pattern(size, 6);
      const bytes mark(size, std::byte{0xee});
      const bytes greeting = pattern(1);
      bytes in(size), in_next(size), hello(1);
      if (linked) {
        auto there = n[0].recv(1, hello, tag{3});
        const auto greets = n[1].send(0, greeting, tag{3});
        n.settle();
        REQUIRE(there->ended_with(errc::ok));
      }
      auto receive = n[1].recv(0, in, tag{1});
      auto send = n[0].send(1, out, tag{1}, mode);
      for (int i = 0; i < steps && !quiet; ++i) quiet = !n.step();
      const bool matched = receive->message != nullptr;
      if (!receive->ended()) receive->cancel();
      n[1].engine.poll_once();  // the sender does nothing
      REQUIRE(receive->ends == 1);
      if (receive->status == errc::stopped) in = mark;
      const bool tells = receive->explain().find("lost") != std::string::npos;
      CHECK(tells == (matched && receive->status == errc::stopped));
      // In every case the next message arrives.
      auto after = n[0].send(1, next, tag{2}, mode);
      auto receive_next = n[1].recv(0, in_next, tag{2});
      n.settle();
      REQUIRE(after->ended_with(errc::ok));
      REQUIRE(receive_next->ended_with(errc::ok));
      CHECK((in_next == next));
      if (receive->status == errc::stopped) {
        CHECK((in == mark));
        bytes again(size);
        auto late = n[1].recv(0, again, tag{1});
        n.settle();
        // A receive that was stopped before it matched left the message for the next receive; else
        // it took the message.
        REQUIRE(late->ended() == !matched);
        if (late->ended()) {
          REQUIRE(late->status == errc::ok);
          CHECK((again == out));
        }
        late->cancel();
      } else {
        REQUIRE(receive->status == errc::ok);
        CHECK((in == out));
      }
      n.settle();
      CHECK(send->ended_with(errc::ok));
      CHECK(n.clean());
    }
  }
}

TEST_CASE("cancel: many receives and sends at random, with numbers that are used again") {
  fake::settings s;
  s.seed = GENERATE(1u, 2u, 3u, 4u);
  s.memory = GENERATE(fake::memory::hidden, fake::memory::readable);
  nodes n(2, s);
  const bytes out = pattern(300'000);
  std::vector<bytes> in(300, bytes(out.size()));
  std::vector<std::shared_ptr<receiving>> receives;
  std::vector<std::shared_ptr<sending>> sends;
  for (bytes& one : in) {
    const bytes& what = out;
    sends.push_back(n[0].send(1, what, tag{1},
                              n.world.chance(2) ? send_mode::standard : send_mode::synchronous));
    receives.push_back(n[1].recv(0, one, tag{1}));
    for (auto steps = n.world.chance(60); steps != 0; --steps) n.step();
    if (n.world.chance(2)) receives[n.world.chance(receives.size())]->cancel();
    if (n.world.chance(4) == 0) sends[n.world.chance(sends.size())]->cancel();
  }
  n.settle();
  CHECK(n[0].to(1).now() == peer::state::open);
  for (const auto& receive : receives)
    if (!receive->ended()) receive->cancel();
  for (const auto& send : sends)
    if (!send->ended()) send->cancel();
  n.settle();
  for (const auto& receive : receives) REQUIRE(receive->ends == 1);
  for (const auto& send : sends) REQUIRE(send->ends == 1);
  for (std::size_t i = 0; i != in.size(); ++i)
    if (receives[i]->status == errc::ok) CHECK((in[i] == out));
  bytes rest(out.size());
  while (n[1].messages.try_probe(nullptr, any_tag)) {
    auto receive = n[1].recv(0, rest, tag{1});
    n.settle();
    REQUIRE(receive->ended_with(errc::ok));
  }
  CHECK(n.clean());
}

TEST_CASE("cancel: one that waits for room is not for the next message with that number") {
  fake::settings s;
  s.shortest_way = s.longest_way = fake::time(0);
  s.room = 2;
  nodes n(2, s);
  const bytes small = pattern(10);
  bytes in(10), in_next(10);
  n[0].send(1, small, tag{2});
  n[1].send(0, small, tag{2});
  n.settle();
  auto receive = n[1].recv(0, in, tag{1});
  auto first = n[0].send(1, small, tag{1}, send_mode::synchronous);
  n[1].engine.poll_once();
  REQUIRE(receive->ended_with(errc::ok));
  // The answer is on its way when the link is full and a cancel comes.
  n[0].send(1, small, tag{2});
  n[0].send(1, small, tag{2});
  first->cancel();
  n[0].engine.poll_once();
  REQUIRE(first->ended_with(errc::ok));
  n[1].engine.poll_once();  // there is room again
  auto second = n[0].send(1, small, tag{3}, send_mode::synchronous);
  n.settle();
  auto receive_next = n[1].recv(0, in_next, tag{3});
  n.settle();
  CHECK(second->ended_with(errc::ok));
  CHECK(receive_next->ended_with(errc::ok));
}

TEST_CASE(
    "cancel: a message whose receiver needs no more of it was sent, also if that one leaves") {
  fake::settings s;
  s.room = 2;  // the sender waits for room in the middle of the message
  int heard = 0;
  for (int steps = 0; steps != 40; ++steps) {
    bool told = false;
    nodes n(2, s);
    n.world.watch = [&](fake::happening what, const fake::wire& on, const fake::wire::frame& f) {
      told = told || (what == fake::happening::delivered && on.to == 0 &&
                      f.header.kind == static_cast<std::uint8_t>(frame_kind::stop_data));
    };
    const bytes out = pattern(400'000);
    bytes in(out.size());
    auto receive = n[1].recv(0, in, tag{1});
    auto send = n[0].send(1, out, tag{1});
    for (int i = 0; i != 6; ++i) n.step();
    receive->cancel();
    for (int i = 0; i != steps; ++i) n.step();
    if (send->ended()) continue;
    peer& other = n[0].to(1);
    const bool told_in_time = told;
    {
      const engine::holder hold(n[0].engine);
      other.lose(errc::closed, "it has left");
    }
    n[0].engine.poll_once();
    REQUIRE(send->ended());
    CAPTURE(steps);
    CHECK(send->status == (told_in_time ? errc::ok : errc::closed));
    heard += told_in_time ? 1 : 0;
  }
  CHECK(heard != 0);
}

TEST_CASE("cancel: a send after any number of steps ends once, and its message is whole or none") {
  fake::settings s;
  s.memory = GENERATE(fake::memory::hidden, fake::memory::readable);
  const auto mode = GENERATE(send_mode::standard, send_mode::synchronous);
  const bool posted = GENERATE(true, false);
  for (const std::size_t size : {0u, 44u, 60'000u, 700'000u}) {
    int steps = 0;
    for (bool quiet = false; !quiet; ++steps) {
      CAPTURE(size, steps, posted, static_cast<int>(mode));
      nodes n(2, s);
      const bytes out = pattern(size, 5);
      const bytes next = pattern(100, 6);
      bytes in(size), in_next(100);
      std::shared_ptr<receiving> receive;
      if (posted) receive = n[1].recv(0, in, tag{1});
      auto send = n[0].send(1, out, tag{1}, mode);
      for (int i = 0; i < steps && !quiet; ++i) quiet = !n.step();
      if (!send->ended()) send->cancel();
      n.settle();
      REQUIRE(send->ends <= 1);
      if (!send->ended()) {
        // The stop was too late: the message is whole at the receiver, which has not asked for it
        // yet.
        FAIL("a cancelled send must end without the receiver's application");
      }
      // In every case the next message arrives.
      auto after = n[0].send(1, next, tag{2});
      auto receive_next = n[1].recv(0, in_next, tag{2});
      n.settle();
      REQUIRE(after->ended_with(errc::ok));
      REQUIRE(receive_next->ended_with(errc::ok));
      CHECK((in_next == next));
      if (!posted) receive = n[1].recv(0, in, tag{1});
      n.settle();
      if (send->status == errc::ok) {
        REQUIRE(receive->ended_with(errc::ok));
        CHECK((in == out));
      } else {
        REQUIRE(send->status == errc::stopped);
        REQUIRE_FALSE(receive->ended());
        receive->cancel();
        n.settle();
        REQUIRE(receive->ended_with(errc::stopped));
      }
      CHECK(n.clean());
    }
  }
}

TEST_CASE("cancel: sends that wait for their turn, for a link, for room, for credit") {
  nodes n(2, {}, {256u << 10, 64u << 10});
  const bytes big = pattern(60'000);
  SECTION("for a link") {
    n.links_allowed = false;
    auto first = n[0].send(1, big, tag{1});
    auto second = n[0].send(1, big, tag{1});
    n.settle();
    second->cancel();
    first->cancel();
    n.settle();
    CHECK(first->ended_with(errc::stopped));
    CHECK(second->ended_with(errc::stopped));
    n.links_allowed = true;
    n.settle();
    CHECK(n.clean());
  }
  SECTION("for room in the link") {
    const bytes small = pattern(10);
    auto open = n[0].send(1, small, tag{1});
    n.settle();
    std::vector<std::shared_ptr<sending>> sends;
    while (sends.empty() || sends.back()->ended()) sends.push_back(n[0].send(1, small, tag{1}));
    // The link is full now, and the first of these messages holds the send order.
    auto holder = std::move(sends.back());
    auto waiting = n[0].send(1, small, tag{1});
    holder->cancel();
    waiting->cancel();
    {
      // Both end although the receiver does nothing.
      n[0].engine.poll_once();
      n[0].engine.poll_once();
      CHECK(holder->ended_with(errc::stopped));
      CHECK(waiting->ended_with(errc::stopped));
    }
    n.settle();
    auto last = n[0].send(1, small, tag{1});
    n.settle();
    CHECK(last->ended_with(errc::ok));
  }
  SECTION("for credit") {
    std::vector<std::shared_ptr<sending>> sends;
    for (int i = 0; i < 40; ++i) sends.push_back(n[0].send(1, big, tag{1}));
    n.settle();
    for (auto it = sends.rbegin(); it != sends.rend(); ++it)
      if (!(*it)->ended()) (*it)->cancel();
    n.settle();
    std::size_t delivered = 0;
    for (const auto& send : sends) {
      REQUIRE(send->ends == 1);
      delivered += send->status == errc::ok;
    }
    bytes in(big.size());
    for (; delivered != 0; --delivered) {
      auto op = n[1].recv(0, in, tag{1});
      n.settle();
      REQUIRE(op->ended_with(errc::ok));
      CHECK((in == big));
    }
    CHECK(n.clean());
  }
}

TEST_CASE("probe: tells of a message and leaves it") {
  nodes n(2);
  const std::size_t size = GENERATE(0u, 10u, 30'000u, 500'000u);
  const bytes out = pattern(size);
  const bool early = GENERATE(true, false);
  CHECK_FALSE(n[1].messages.try_probe(nullptr, any_tag));
  probing probe = probe_of(n[1], 0, tag_mask(0x10, 0xf0));
  probing elsewhere = probe_of(n[1], 0, tag{0x20});
  elsewhere.go();
  if (early) probe.go();
  auto send = n[0].send(1, out, tag{0x17});
  n.settle();
  if (!early) probe.go();
  REQUIRE(probe.ended_with(errc::ok));
  CHECK(probe.got.size == size);
  CHECK(probe.got.source == 0);
  CHECK(probe.got.tag == tag{0x17});
  const auto seen = n[1].messages.try_probe(&n[1].to(0), any_tag);
  REQUIRE(seen);
  CHECK(seen->size == size);
  bytes in(size);
  auto receive = n[1].recv(0, in, tag{0x17});
  n.settle();
  CHECK(receive->ended_with(errc::ok));
  CHECK((in == out));
  CHECK_FALSE(n[1].messages.try_probe(nullptr, any_tag));
  elsewhere.cancel();
  n.settle();
  CHECK(elsewhere.ended_with(errc::stopped));
  CHECK(n.clean());
}

TEST_CASE("probe: several of them, and a receive behind, are served by one message") {
  nodes n(2);
  const bytes out = pattern(100);
  bytes in(100);
  probing first = probe_of(n[1], 0, tag{1});
  probing second(probe_request{&n[1].messages, nullptr, any_tag});
  first.go();
  second.go();
  auto receive = n[1].recv(0, in, tag{1});
  auto send = n[0].send(1, out, tag{1});
  n.settle();
  CHECK(first.ended_with(errc::ok));
  CHECK(second.ended_with(errc::ok));
  CHECK(receive->ended_with(errc::ok));
  CHECK((in == out));
}
