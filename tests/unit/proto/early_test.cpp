// SPDX-License-Identifier: Apache-2.0
// Receives that are announced to their source before the message: payloads without a handshake,
// under virtual time. Whatever the sender makes of what it knows, matching is the receiver's.
#include <array>
#include <vector>

#include "net.hpp"
#include "support/dice.hpp"

using namespace net;
using weft::any_tag;
using weft::recv_request;
using weft::send_request;
using weft::detail::send_mode;
using weft::proto::messenger_settings;

namespace {

constexpr std::size_t above_limit = 200'000;

messenger_settings receiver_first(bool yes = true) {
  messenger_settings m{64u << 20, 64u << 10};
  m.receiver_first = yes;
  return m;
}

fake::settings narrow() {
  fake::settings s;
  s.frames_per_poll = 3;
  return s;
}

/// Two nodes with links in both directions: receives are announced over links that there are.
struct early_nodes : nodes {
  explicit early_nodes(fake::settings s = narrow(), messenger_settings first = receiver_first(),
                       messenger_settings second = receiver_first())
      : nodes(2, s, {first, second}) {
    const bytes out(1);
    bytes in(1);
    for (const fake::node from : {0u, 1u}) {
      nodes& n = *this;
      const auto send = n[from].send(1 - from, out, tag{0});
      const auto receive = n[1 - from].recv(from, in, tag{0});
      settle();
      REQUIRE(send->ended_with(errc::ok));
      REQUIRE(receive->ended_with(errc::ok));
    }
  }
  weft::metrics at(fake::node i) { return (*this)[i].messages.snapshot(); }
  std::uint64_t unasked(fake::node i = 1) { return at(i).rendezvous_early; }
  std::uint64_t lost(fake::node i = 1) { return at(i).rendezvous_early_lost; }
};

}  // namespace

TEST_CASE("early: a receive that waits spares its message the handshake") {
  const auto mode = GENERATE(send_mode::standard, send_mode::synchronous);
  const bool from_pieces = GENERATE(true, false);
  early_nodes n;
  const bytes out = pattern(above_limit, 5);
  bytes in(out.size());
  const std::array<weft::const_buffer, 2> pieces{
      weft::const_buffer(out.data(), 70'001),
      weft::const_buffer(out.data() + 70'001, out.size() - 70'001)};
  for (int round = 0; round != 3; ++round) {
    const auto receive = n[1].recv(0, in, tag{1});
    n.settle();
    using list = weft::detail::buffer_list<weft::const_buffer>;
    sending send(send_request{&n[0].to(1), tag{1},
                              from_pieces ? list(std::span<const weft::const_buffer>(pieces))
                                          : list(weft::const_buffer(out)),
                              mode});
    send.go();
    n.settle();
    REQUIRE(send.ended_with(errc::ok));
    REQUIRE(receive->ended_with(errc::ok));
    CHECK((in == out));
    in.assign(in.size(), std::byte{});
  }
  CHECK(n.unasked() == 3);
  CHECK(n.lost() == 0);
  CHECK(n.clean());
}

TEST_CASE("early: many receives, announced 32 in a frame, and more than are announced at all") {
  fake::settings s = narrow();
  s.room = GENERATE(1u, 32u);
  early_nodes n(s);
  const bytes out = pattern(70'000);
  std::vector<bytes> in(300, bytes(out.size()));
  std::vector<std::shared_ptr<receiving>> receives;
  for (bytes& one : in) receives.push_back(n[1].recv(0, one, tag{1}));
  n.settle();
  std::vector<std::shared_ptr<sending>> sends;
  for (std::size_t i = 0; i != in.size(); ++i) sends.push_back(n[0].send(1, out, tag{1}));
  n.settle();
  for (std::size_t i = 0; i != in.size(); ++i) {
    REQUIRE(sends[i]->ended_with(errc::ok));
    REQUIRE(receives[i]->ended_with(errc::ok));
    CHECK((in[i] == out));
  }
  // Without room in the link fewer are announced.
  CHECK(n.unasked() <= weft::proto::most_early);
  CHECK(n.unasked() >= (s.room == 1 ? weft::proto::early_in_frame : weft::proto::most_early));
  CHECK(n.lost() == 0);
  CHECK(n.clean());
}

TEST_CASE("early: short messages of the same tag take receives in their order") {
  early_nodes n;
  const bytes brief = pattern(100, 1), long_one = pattern(above_limit, 2);
  std::vector<bytes> in(4, bytes(above_limit));
  // The first short message is under way when the receives are announced; the second one follows.
  const auto first = n[0].send(1, brief, tag{1});
  std::vector<std::shared_ptr<receiving>> receives;
  for (bytes& one : in) receives.push_back(n[1].recv(0, one, tag{1}));
  n.settle();
  const auto second = n[0].send(1, brief, tag{1});
  std::array<std::shared_ptr<sending>, 3> more;
  for (auto& one : more) {
    one = n[0].send(1, long_one, tag{1});
    if (&one == &more.front()) continue;
    n.settle();
  }
  REQUIRE(first->ended_with(errc::ok));
  REQUIRE(second->ended_with(errc::ok));
  const std::array<std::size_t, 4> sizes{100, 100, above_limit, above_limit};
  for (std::size_t i = 0; i != in.size(); ++i) {
    REQUIRE(receives[i]->ended_with(errc::ok));
    CHECK(receives[i]->got.size == sizes[i]);
  }
  // The third long message found no receive, and its sender knew.
  CHECK(n.unasked() == 2);
  CHECK(n.lost() == 0);
  CHECK_FALSE(more[2]->ended());
  bytes last(above_limit);
  const auto receive = n[1].recv(0, last, tag{1});
  n.settle();
  REQUIRE(more[2]->ended_with(errc::ok));
  REQUIRE(receive->ended_with(errc::ok));
  CHECK((last == long_one));
  CHECK(n.clean());
}

TEST_CASE("early: receives behind a wildcard, or behind a short one, are not announced") {
  early_nodes n;
  bytes any(above_limit), brief(10), in(above_limit);
  const int which = GENERATE(0, 1, 2, 3);
  CAPTURE(which);
  std::shared_ptr<receiving> before;
  if (which == 0) before = n[1].recv_any(any, any_tag);
  if (which == 1) before = n[1].recv(0, any, tag_mask{0, 0});
  if (which == 2) before = n[1].recv(0, brief, tag{1});
  const auto receive = n[1].recv(0, in, tag{1});
  n.settle();
  const bytes out = pattern(above_limit, 2), next = pattern(above_limit, 3);
  const auto send = n[0].send(1, out, tag{1});
  if (before) {
    n.settle();
    REQUIRE(before->ended_with(which == 2 ? errc::truncated : errc::ok));
    CHECK_FALSE(receive->ended());
    n[0].send(1, next, tag{1});
  }
  n.settle();
  REQUIRE(send->ended_with(errc::ok));
  REQUIRE(receive->ended_with(errc::ok));
  CHECK((in == (before ? next : out)));
  CHECK(n.unasked() == (before ? 0 : 1));
  CHECK(n.clean());
}

TEST_CASE("early: a message longer than its receive goes the old way, and is truncated") {
  early_nodes n;
  const bytes out = pattern(above_limit);
  bytes in(100'000);
  const auto receive = n[1].recv(0, in, tag{1});
  n.settle();
  const auto send = n[0].send(1, out, tag{1});
  n.settle();
  REQUIRE(send->ended_with(errc::ok));
  REQUIRE(receive->ended_with(errc::truncated));
  CHECK(receive->got.size == out.size());
  CHECK(std::equal(in.begin(), in.end(), out.begin()));
  CHECK(n.unasked() == 0);
  CHECK(n.clean());
}

TEST_CASE("early: a receive from a peer that was granted nothing yet") {
  // Node 1 has a link to node 0, which has none back.
  nodes n(2, narrow(), std::vector(2, receiver_first()));
  const bytes brief(1), out = pattern(above_limit);
  bytes first(1), in(out.size());
  const auto hello = n[1].send(0, brief, tag{0});
  n.settle();
  const auto receive = n[1].recv(0, in, tag{1});
  n.settle();
  const auto send = n[0].send(1, out, tag{1});
  n[0].recv(1, first, tag{0});
  n.settle();
  REQUIRE(hello->ended_with(errc::ok));
  REQUIRE(send->ended_with(errc::ok));
  REQUIRE(receive->ended_with(errc::ok));
  CHECK((in == out));
  CHECK(n.clean());
}

TEST_CASE("early: one side alone wants it, and nothing changes") {
  const bool first = GENERATE(true, false);
  early_nodes n(narrow(), receiver_first(first), receiver_first(!first));
  const bytes out = pattern(above_limit);
  bytes in(out.size());
  const auto receive = n[1].recv(0, in, tag{1});
  n.settle();
  const auto send = n[0].send(1, out, tag{1});
  n.settle();
  REQUIRE(send->ended_with(errc::ok));
  REQUIRE(receive->ended_with(errc::ok));
  CHECK((in == out));
  CHECK(n.unasked() == 0);
  CHECK(n.clean());
}

TEST_CASE("early: a receive that is stopped at any moment, and the message meets a later one") {
  fake::settings s = narrow();
  s.places = GENERATE(true, false);
  const bytes out = pattern(above_limit, 5), next = pattern(above_limit, 6);
  const bytes mark(out.size(), std::byte{0xee});
  int steps = 0, stopped = 0, whole = 0, lost = 0;
  for (bool quiet = false; !quiet; ++steps) {
    CAPTURE(steps);
    early_nodes n(s);
    bytes in(out.size()), in_next(out.size()), again(out.size());
    const auto receive = n[1].recv(0, in, tag{1});
    n.settle();
    const auto send = n[0].send(1, out, tag{1});
    for (int i = 0; i < steps && !quiet; ++i) quiet = !n.step();
    const bool matched = receive->message != nullptr;
    if (!receive->ended()) receive->cancel();
    n[1].engine.poll_once();
    REQUIRE(receive->ends == 1);  // without an answer: only this side writes to the memory
    if (receive->status == errc::stopped) in = mark;
    const auto after = n[0].send(1, next, tag{2});
    const auto receive_next = n[1].recv(0, in_next, tag{2});
    n.settle();
    REQUIRE(receive->ends == 1);
    REQUIRE(after->ended_with(errc::ok));
    REQUIRE(receive_next->ended_with(errc::ok));
    CHECK((in_next == next));
    if (receive->status == errc::stopped) {
      ++stopped;
      CHECK((in == mark));
      const auto late = n[1].recv(0, again, tag{1});
      n.settle();
      REQUIRE(late->ended() == !matched);
      if (late->ended()) CHECK((again == out));
      late->cancel();
    } else {
      ++whole;
      CHECK((in == out));
    }
    lost += static_cast<int>(n.lost());
    n.settle();
    CHECK(send->ended_with(errc::ok));
    CHECK(n.clean());
  }
  CHECK(stopped > 2);
  CHECK(whole >= 1);
  CHECK(lost >= 1);  // a stop crossed the payload
}

TEST_CASE("early: a send that is stopped at any moment") {
  const bool waits = GENERATE(true, false);
  int steps = 0;
  for (bool quiet = false; !quiet; ++steps) {
    CAPTURE(steps, waits);
    early_nodes n;
    const bytes out = pattern(above_limit, 5);
    bytes in(out.size());
    auto receive = n[1].recv(0, in, tag{1});
    n.settle();
    if (!waits) receive->cancel();  // the sender does not know yet
    const auto send = n[0].send(1, out, tag{1});
    for (int i = 0; i < steps && !quiet; ++i) quiet = !n.step();
    if (!send->ended()) send->cancel();
    n.settle();
    REQUIRE(send->ends == 1);
    if (send->status == errc::stopped) {
      // Its number is free for another message.
      if (!waits) receive = n[1].recv(0, in, tag{1});
      n.settle();
      CHECK_FALSE(receive->ended());
      const auto next = n[0].send(1, out, tag{1});
      n.settle();
      REQUIRE(next->ended_with(errc::ok));
      REQUIRE(receive->ended_with(errc::ok));
      CHECK((in == out));
    } else if (waits) {
      REQUIRE(receive->ended_with(errc::ok));
      CHECK((in == out));
    }
    CHECK(n.clean());
  }
  CHECK(steps > 5);
}

TEST_CASE("early: a peer that dies, or closes, at any moment") {
  const int how = GENERATE(0, 1, 2);
  const bytes out = pattern(above_limit, 5);
  for (const fake::node ends : {0u, 1u}) {
    int steps = 0;
    for (bool quiet = false; !quiet; ++steps) {
      CAPTURE(ends, steps, how);
      early_nodes n;
      bytes in(out.size());
      const auto receive = n[1].recv(0, in, tag{1});
      n.settle();
      const auto send = n[0].send(1, out, tag{1});
      for (int i = 0; i < steps && !quiet; ++i) quiet = !n.step();
      const fake::node stays = 1 - ends;
      if (how == 2) {
        peer& other = n[ends].to(stays);
        const engine::holder hold(n[ends].engine);
        other.close();
      } else {
        n.world.kill(ends, how == 1);
        n.settle();
        peer& gone = n[stays].to(ends);
        const engine::holder hold(n[stays].engine);
        n[stays].transport->forget(gone);
        gone.fail(errc::peer_lost, "dead");
        gone.drop_link();
      }
      n.settle();
      n[stays].engine.poll_once();
      if (how == 2 || ends == 0) REQUIRE(receive->ends == 1);
      if (how == 2 || ends == 1) REQUIRE(send->ends == 1);
      if (receive->ended_with(errc::ok)) CHECK((in == out));
      CHECK(n[stays].clean());
    }
    CHECK(steps > 5);
  }
}

TEST_CASE("early: messages and receives of any kind, in any order, meet as they must") {
  struct posted {
    std::shared_ptr<receiving> op;
    std::unique_ptr<bytes> into;
    bool any;
    std::uint64_t tag;
    bool stopped = false;
  };
  std::uint64_t unasked = 0, lost = 0;
  for (std::uint64_t seed = 1; seed != 60; ++seed) {
    CAPTURE(seed);
    weft::tests::dice d(seed);
    fake::settings s = narrow();
    s.seed = seed;
    s.room = d.between(1, 8);
    s.places = d.percent(50);
    early_nodes n(s);
    std::vector<bytes> out;
    for (std::uint64_t i = 0; i != 3; ++i) out.push_back(pattern(i == 0 ? 90 : 66'000 * i, i));
    std::vector<std::uint64_t> tags;
    std::vector<std::shared_ptr<sending>> sends;
    std::vector<posted> receives;
    const auto receive = [&](bool any) {
      auto into = std::make_unique<bytes>(140'000);
      const std::uint64_t t = d.below(2);
      auto op = any ? n[1].recv_any(*into, any_tag) : n[1].recv(0, *into, tag{t});
      receives.push_back({op, std::move(into), any, t});
    };
    for (int act = 0; act != 80; ++act) {
      if (d.percent(40)) {
        tags.push_back(d.below(2));
        // The immediate word is the number of the message, from 1 on.
        sends.push_back(
            n[0].send(1, d.one_of(out), tag{tags.back()}, send_mode::standard, tags.size()));
      } else if (d.percent(70)) {
        receive(d.percent(5));
      } else if (d.percent(60) && !receives.empty()) {
        posted& one =
            receives[receives.size() - 1 - d.below(std::min<std::size_t>(receives.size(), 3))];
        one.stopped = !one.op->ended();
        if (one.stopped) one.op->cancel();
      }
      for (std::uint64_t i = d.below(4); i != 0; --i) n.step();
    }
    for (std::size_t i = 0; i != sends.size(); ++i) receive(true);
    n.settle();
    for (const auto& one : sends) REQUIRE(one->ended_with(errc::ok));
    for (std::size_t a = 0; a != receives.size(); ++a) {
      const posted& first = receives[a];
      if (!first.op->ended_with(errc::ok)) continue;
      const std::uint64_t m = first.op->got.immediate;
      REQUIRE((m != 0 && m <= tags.size()));
      REQUIRE((first.any || tags[m - 1] == first.tag));
      // No later receive has an earlier message that this one would have taken.
      for (std::size_t b = a + 1; b != receives.size(); ++b) {
        const posted& later = receives[b];
        if (!later.op->ended_with(errc::ok)) continue;
        const std::uint64_t other = later.op->got.immediate;
        const bool both_accept =
            (first.any || tags[other - 1] == first.tag) && (later.any || tags[m - 1] == later.tag);
        REQUIRE((other != m && (!both_accept || m < other)));
      }
    }
    for (posted& one : receives)
      if (!one.op->ended()) one.op->cancel();
    n.settle();
    unasked += n.unasked();
    lost += n.lost();
    CHECK(n.clean());
  }
  CHECK(unasked > 100);
  CHECK(lost > 0);
  CHECK(lost < unasked / 4);
}
