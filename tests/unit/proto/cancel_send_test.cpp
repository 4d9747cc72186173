// SPDX-License-Identifier: Apache-2.0
// Stopping sends, at every stage.
#include <memory>

#include "net.hpp"

using namespace net;
using weft::detail::send_mode;
using weft::proto::frame_kind;
using weft::proto::one_frame;

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
