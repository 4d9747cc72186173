// SPDX-License-Identifier: Apache-2.0
// Rendezvous by reading and by writing the other side's memory, under virtual time: the link ends a
// transfer later, refuses it, has no room for it, or fails in the middle.
#include <array>
#include <vector>

#include "net.hpp"

using namespace net;
using weft::recv_request;
using weft::rendezvous_eager_data;
using weft::rendezvous_scheme;
using weft::send_request;
using weft::detail::send_mode;
using weft::proto::messenger_settings;

namespace {

/// A network whose links read and write memory, and take their time.
fake::settings one_sided() {
  fake::settings s;
  s.memory = fake::memory::readable;
  s.later = true;
  s.frames_per_poll = 3;
  return s;
}

messenger_settings by(rendezvous_scheme way,
                      rendezvous_eager_data eager_data = rendezvous_eager_data::automatic) {
  messenger_settings m{64u << 20, 64u << 10};
  m.rendezvous = way;
  m.eager_data = eager_data;
  return m;
}

std::uint64_t read_by(side& s) { return s.messages.snapshot().rendezvous_gets; }
std::uint64_t written_to(side& s) { return s.messages.snapshot().rendezvous_puts; }

bool at_rest(nodes& n) { return n.clean() && n.world.shown() == 0; }

/// How the rests of messages cross, and links that do so.
struct way_there {
  rendezvous_scheme wanted;
  fake::settings links;
};
way_there some_way() {
  way_there w{GENERATE(rendezvous_scheme::get, rendezvous_scheme::put), one_sided()};
  w.links.later = GENERATE(true, false);
  w.links.chains = w.links.later && GENERATE(true, false);
  return w;
}

}  // namespace

TEST_CASE("one-sided: read or written, with and without a beginning, whole and in pieces") {
  const way_there w = some_way();
  const auto inlined = GENERATE(rendezvous_eager_data::yes, rendezvous_eager_data::no);
  const auto mode = GENERATE(send_mode::standard, send_mode::synchronous);
  const bool before = GENERATE(true, false);
  for (const std::size_t size : {0u, 44u, 65'536u, 65'537u, 300'000u, 1'000'003u}) {
    CAPTURE(size, static_cast<int>(w.wanted), w.links.later, static_cast<int>(inlined), before);
    nodes n(2, w.links, by(w.wanted, inlined));
    const bytes out = pattern(size, size);
    bytes in(size);
    std::shared_ptr<receiving> receive;
    if (before) receive = n[1].recv(0, in, tag{1});
    const auto send = n[0].send(1, out, tag{1}, mode);
    if (!before) n.settle();
    if (!receive) receive = n[1].recv(0, in, tag{1});
    n.settle();
    REQUIRE(send->ended_with(errc::ok));
    REQUIRE(receive->ended_with(errc::ok));
    CHECK((in == out));
    const bool has_rest = size > 65'536;
    CHECK(read_by(n[1]) == (has_rest && w.wanted == rendezvous_scheme::get));
    CHECK(written_to(n[1]) == (has_rest && w.wanted == rendezvous_scheme::put));
    CHECK(at_rest(n));
  }
}

TEST_CASE("one-sided: what both sides want is done, else it goes in frames") {
  using enum rendezvous_scheme;
  struct pair {
    rendezvous_scheme sender, receiver;
    bool prefers_put, read, written;
  };
  const pair p = GENERATE(values<pair>({{automatic, automatic, false, true, false},
                                        {automatic, automatic, true, false, true},
                                        {get, automatic, true, true, false},
                                        {automatic, get, true, false, false},
                                        {automatic, put, false, false, true},
                                        {put, automatic, false, false, false},
                                        {put, automatic, true, false, true},
                                        {frames, automatic, false, false, false},
                                        {automatic, frames, false, false, false},
                                        {frames, put, true, false, false},
                                        {get, put, true, false, false},
                                        {put, get, false, false, false}}));
  CAPTURE(static_cast<int>(p.sender), static_cast<int>(p.receiver), p.prefers_put);
  fake::settings s = one_sided();
  s.prefers_put = p.prefers_put;
  nodes n(2, s, {by(p.sender), by(p.receiver)});
  const bytes out = pattern(300'000);
  bytes in(out.size());
  const auto receive = n[1].recv(0, in, tag{1});
  const auto send = n[0].send(1, out, tag{1});
  n.settle();
  REQUIRE(send->ended_with(errc::ok));
  REQUIRE(receive->ended_with(errc::ok));
  CHECK((in == out));
  CHECK(read_by(n[1]) == p.read);
  CHECK(written_to(n[1]) == p.written);
  CHECK(at_rest(n));
}

TEST_CASE("one-sided: lists of pieces on either side, and a receive that is too short") {
  const way_there w = some_way();
  const bool from_pieces = GENERATE(true, false), to_pieces = GENERATE(true, false);
  const std::size_t room = GENERATE(500'000u, 200'000u, 65'536u, 10u);
  nodes n(2, w.links, by(w.wanted));
  const bytes out = pattern(300'000);
  bytes in(room);
  const std::array<weft::const_buffer, 3> out_pieces{
      weft::const_buffer(out.data(), 70'000), weft::const_buffer(out.data() + 70'000, 1),
      weft::const_buffer(out.data() + 70'001, out.size() - 70'001)};
  const std::array<weft::mutable_buffer, 2> in_pieces{
      weft::mutable_buffer(in.data(), room / 3),
      weft::mutable_buffer(in.data() + room / 3, room - room / 3)};
  using out_list = weft::detail::buffer_list<weft::const_buffer>;
  using in_list = weft::detail::buffer_list<weft::mutable_buffer>;
  sending send(send_request{&n[0].to(1), tag{1},
                            from_pieces ? out_list(std::span<const weft::const_buffer>(out_pieces))
                                        : out_list(weft::const_buffer(out))});
  receiving receive(recv_request{&n[1].messages, &n[1].to(0), tag{1},
                                 to_pieces
                                     ? in_list(std::span<const weft::mutable_buffer>(in_pieces))
                                     : in_list(weft::mutable_buffer(in))});
  CAPTURE(static_cast<int>(w.wanted), w.links.later, from_pieces, to_pieces, room);
  receive.go();
  send.go();
  n.settle();
  REQUIRE(send.ended_with(errc::ok));
  REQUIRE(receive.ended_with(room < out.size() ? errc::truncated : errc::ok));
  CHECK(receive.got.size == out.size());
  const std::size_t filled = std::min(room, out.size());
  CHECK(std::equal(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(filled), out.begin()));
  // Memory is shown in one piece, and for writing only if all of the message fits.
  CHECK(read_by(n[1]) == (w.wanted == rendezvous_scheme::get && !from_pieces));
  CHECK(written_to(n[1]) ==
        (w.wanted == rendezvous_scheme::put && !to_pieces && room >= out.size()));
  CHECK(at_rest(n));
}

TEST_CASE("one-sided: more messages than a link moves at once, some of which fail") {
  fake::settings s = one_sided();
  s.prefers_put = GENERATE(true, false);
  s.transfers = GENERATE(1u, 3u, 1000u);
  s.failing = GENERATE(0u, 40u, 100u);
  s.room = GENERATE(2u, 32u);
  s.chains = GENERATE(true, false);
  nodes n(2, s);
  const bytes out = pattern(150'000);
  std::vector<bytes> in(50, bytes(out.size()));
  std::vector<std::shared_ptr<sending>> sends;
  std::vector<std::shared_ptr<receiving>> receives;
  for (bytes& one : in) {
    receives.push_back(n[1].recv(0, one, tag{1}));
    sends.push_back(n[0].send(1, out, tag{1}));
  }
  n.settle();
  for (std::size_t i = 0; i != in.size(); ++i) {
    REQUIRE(sends[i]->ended_with(errc::ok));
    REQUIRE(receives[i]->ended_with(errc::ok));
    CHECK((in[i] == out));
  }
  const std::uint64_t moved = s.prefers_put ? written_to(n[1]) : read_by(n[1]);
  CAPTURE(moved, s.failing);
  CHECK((moved == in.size()) == (s.failing == 0));
  CHECK((moved == 0) == (s.failing == 100));
  CHECK(at_rest(n));
}

TEST_CASE("one-sided: a receive that is stopped gets its memory back when nobody writes there") {
  way_there w = some_way();
  w.links.failing = GENERATE(0u, 100u);
  w.links.fails_in_order = w.links.failing == 0 && GENERATE(true, false);
  const bytes out = pattern(200'000, 5), next = pattern(200'000, 6);
  const bytes mark(out.size(), std::byte{0xee});
  int steps = 0, stopped = 0, whole = 0;
  for (bool quiet = false; !quiet; ++steps) {
    CAPTURE(steps, static_cast<int>(w.wanted), w.links.later, w.links.failing);
    nodes n(2, w.links, by(w.wanted));
    bytes in(out.size()), in_next(out.size()), again(out.size());
    const auto receive = n[1].recv(0, in, tag{1});
    const auto send = n[0].send(1, out, tag{1});
    for (int i = 0; i < steps && !quiet; ++i) quiet = !n.step();
    const bool matched = receive->message != nullptr;
    if (!receive->ended()) {
      receive->cancel();
      receive->cancel();  // the second cancel has no effect
    }
    while (!receive->ended()) REQUIRE(n.step());
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
      late->cancel();
    } else {
      ++whole;
      REQUIRE(receive->status == errc::ok);
      CHECK((in == out));
    }
    n.settle();
    CHECK(send->ended_with(errc::ok));
    CHECK(at_rest(n));
  }
  CHECK(stopped > 2);
  CHECK(whole > 1);
}

TEST_CASE("one-sided: a peer that dies at any moment, and memory that nobody touches afterwards") {
  way_there w = some_way();
  w.links.fails_in_order = GENERATE(true, false);
  const bool told = GENERATE(true, false);
  const bytes out = pattern(200'000, 5);
  const bytes mark(out.size(), std::byte{0xee});
  for (const fake::node dies : {0u, 1u}) {
    int steps = 0;
    for (bool quiet = false; !quiet; ++steps) {
      CAPTURE(dies, steps, told, static_cast<int>(w.wanted), w.links.later);
      nodes n(2, w.links, by(w.wanted));
      bytes there = out, in(out.size()), back(out.size());
      const auto receive = n[1].recv(0, in, tag{1});
      const auto send = n[0].send(1, there, tag{1});
      for (int i = 0; i < steps && !quiet; ++i) quiet = !n.step();
      n.world.kill(dies, told);
      n.settle();
      const fake::node lives = 1 - dies;
      {
        // As the control plane does when it learns of the death.
        peer& gone = n[lives].to(dies);
        const engine::holder hold(n[lives].engine);
        n[lives].transport->forget(gone);
        gone.give_up(errc::peer_lost, "dead");
        gone.drop_link();
      }
      n[lives].engine.poll_once();
      if (dies == 0) {
        REQUIRE(receive->ends == 1);
        if (receive->status == errc::ok) CHECK((in == out));
        if (receive->status != errc::ok) CHECK(receive->status == errc::peer_lost);
      } else {
        REQUIRE(send->ends == 1);
      }
      in = mark;
      there = mark;
      n.settle();
      CHECK((in == mark));
      CHECK(n[lives].clean());
      CHECK(n.world.shown() == 0);
    }
    CHECK(steps > 8);
  }
}

TEST_CASE("one-sided: what is told of a write in advance does not arrive if the write fails") {
  fake::settings s = one_sided();
  s.fails_in_order = true;
  s.failing = 100;
  nodes n(2, s, by(rendezvous_scheme::put));
  const bytes out = pattern(200'000);
  bytes in(out.size()), other(10);
  const auto receive = n[1].recv(0, in, tag{1});
  const auto send = n[0].send(1, out, tag{1});
  const auto waits = n[1].recv(0, other, tag{2});
  n.settle();
  CHECK(send->ended_with(errc::peer_lost));
  CHECK(receive->ended_with(errc::peer_lost));
  CHECK(waits->ended_with(errc::peer_lost));
  CHECK(at_rest(n));
}

TEST_CASE("one-sided: both sides close in the middle") {
  const way_there w = some_way();
  const fake::node closes = GENERATE(0u, 1u);
  for (int steps = 0; steps < 60; ++steps) {
    nodes n(2, w.links, by(w.wanted));
    const bytes out = pattern(200'000);
    bytes in(out.size());
    const auto receive = n[1].recv(0, in, tag{1});
    const auto send = n[0].send(1, out, tag{1});
    for (int i = 0; i < steps; ++i) n.step();
    {
      peer& other = n[closes].to(1 - closes);
      const engine::holder hold(n[closes].engine);
      other.close();
    }
    n.settle();
    CAPTURE(steps, closes, static_cast<int>(w.wanted), static_cast<int>(receive->status));
    REQUIRE(send->ends == 1);
    REQUIRE(receive->ends == 1);
    if (receive->status == errc::ok) CHECK((in == out));
    CHECK(at_rest(n));
  }
}
