// SPDX-License-Identifier: Apache-2.0
// RDMA channels on devices made of memory: bytes in order, rings that wrap and fill up,
// and the times of notifications.
#include "support/channels.hpp"
#include "support/verbs_fabric.hpp"
#include "transports/verbs/channel/open.hpp"
#include "transports/verbs/channel/wire.hpp"

using namespace channels;
namespace verbs = transports::verbs;
using tests::fabric;
using tests::fake_device;

namespace {

struct two {
  fabric net;
  fake_device here{net}, there{net};
  std::unique_ptr<rdma_channel> a, b;

  explicit two(const rdma_channel::settings& s)
      : a(verbs::channel::open(here, s)), b(verbs::channel::open(there, s)) {
    meet(*a, *b);
  }
};

}  // namespace

TEST_CASE("channel: bytes arrive in order, whatever the calls are for") {
  const rung step = GENERATE(from_range(std::begin(all_rungs), std::end(all_rungs)));
  CAPTURE(int(step));
  const std::size_t many = WEFT_TEST_SANITIZED ? 2500 : 20'000;  // round the ring several times
  for (const std::size_t put_at_once : {1ul, 100ul, 1023ul, 1024ul, 5000ul, 100'000ul})
    for (const std::size_t got_at_once : {3ul, 232ul, 1024ul, 4001ul, 100'000ul}) {
      two x(small(step));
      const bytes out = pattern(many, put_at_once + got_at_once);
      bytes in(out.size());
      REQUIRE(cross(*x.a, *x.b, out, in, put_at_once, got_at_once));
      if (in != out) FAIL(put_at_once << " and " << got_at_once);
      bytes back(out.size());
      REQUIRE(cross(*x.b, *x.a, out, back, got_at_once, put_at_once));
      CHECK(back == out);
    }
}

TEST_CASE("channel: both directions at once, and devices that take nothing inline") {
  const rung step = GENERATE(from_range(std::begin(all_rungs), std::end(all_rungs)));
  two x(small(step));
  x.here.inline_bytes = x.there.inline_bytes = 0;
  const bytes out = pattern(50'000), back = pattern(40'000, 2);
  bytes in_b(out.size()), in_a(back.size());
  std::size_t to_b = 0, to_a = 0, at_b = 0, at_a = 0;
  const auto rest = [](auto& b, std::size_t from, std::size_t most) {
    return std::span(b).subspan(from, std::min(most, b.size() - from));
  };
  for (int turn = 0; at_b != out.size() || at_a != back.size(); ++turn) {
    REQUIRE(turn < 100'000);
    to_b += put(*x.a, rest(out, to_b, 3000));
    to_a += put(*x.b, rest(back, to_a, 700));
    at_b += get(*x.b, rest(in_b, at_b, 5000));
    at_a += get(*x.a, rest(in_a, at_a, 5000));
    x.a->progress();
    x.b->progress();
  }
  CHECK(in_b == out);
  CHECK(in_a == back);
}

TEST_CASE("channel: lists of buffers are put and got as if they were one") {
  const rung step = GENERATE(from_range(std::begin(all_rungs), std::end(all_rungs)));
  two x(small(step));
  const bytes one = pattern(100, 1), three = pattern(300, 3);
  const const_buffer out[] = {one, const_buffer{}, three};
  bytes first(250), second(200);
  const mutable_buffer in[] = {first, mutable_buffer{}, second};
  REQUIRE(x.a->put(out) == 400);
  REQUIRE(x.b->get(in) == 400);
  CHECK(std::equal(one.begin(), one.end(), first.begin()));
  CHECK(std::equal(three.begin(), three.begin() + 150, first.begin() + 100));
  CHECK(std::equal(three.begin() + 150, three.end(), second.begin()));
  CHECK(x.b->get(in) == 0);
}

TEST_CASE("channel: a full ring takes nothing until something was read") {
  const rung step = GENERATE(rung::basic, rung::piggyback, rung::pipelined, rung::read);
  two x(small(step));
  const bytes out = pattern(1900);
  const std::size_t taken = put(*x.a, out);
  CHECK(taken == (step == rung::basic ? 1024 : 4 * (256 - sizeof(wire::trailer))));
  CHECK(put(*x.a, out) == 0);
  x.a->progress();
  CHECK(put(*x.a, out) == 0);
  bytes in(taken);
  REQUIRE(get(*x.b, in) == taken);
  CHECK(std::equal(in.begin(), in.end(), out.begin()));
  CHECK(put(*x.a, out) == taken);
}

TEST_CASE("channel: basic writes data and each pointer apart, the others all at once") {
  const auto writes = [](rung step, int times, bool answers) {
    two x({.step = step, .ring = 4096, .chunk = 256, .threshold = 2000});
    const bytes out = pattern(8);
    bytes in(8);
    const std::size_t before = x.here.writes + x.there.writes;
    for (int i = 0; i != times; ++i) {
      REQUIRE(put(*x.a, out) == 8);
      REQUIRE(get(*x.b, in) == 8);
      if (!answers) continue;
      REQUIRE(put(*x.b, out) == 8);
      REQUIRE(get(*x.a, in) == 8);
    }
    return x.here.writes + x.there.writes - before;
  };
  CHECK(writes(rung::basic, 100, true) == 600);
  CHECK(writes(rung::piggyback, 100, true) == 200);  // the answers tell how much was read
  CHECK(writes(rung::pipelined, 100, true) == 200);
  CHECK(writes(rung::basic, 96, false) == 3 * 96);
  CHECK(writes(rung::piggyback, 96, false) == 96 + 96 / 8);  // by a word for half of 16 chunks
}

TEST_CASE("channel: pipelined writes a chunk before it copies the next one") {
  // A device that is in the middle of a write has taken it already.
  const auto posted = [](rung step) {
    two x(small(step));
    x.net.moves = 1;
    put(*x.a, pattern(900));
    return x.here.writes;
  };
  CHECK(posted(rung::pipelined) == 4);
  CHECK(posted(rung::piggyback) == 4);
}

TEST_CASE("channel: who only puts learns of what was read from chunks that it has not read") {
  const rung step = GENERATE(rung::piggyback, rung::pipelined, rung::written);
  two x(small(step));
  const bytes out = pattern(1000), word = pattern(8);
  bytes in(1000);
  REQUIRE(put(*x.a, out) == 928);
  REQUIRE(get(*x.b, std::span(in).first(232)) == 232);
  REQUIRE(put(*x.b, word) == 8);  // also tells that one chunk was read
  CHECK(put(*x.a, out) == 232);
}

TEST_CASE("channel: half a write is not seen") {
  const rung step = GENERATE(rung::basic, rung::piggyback, rung::pipelined);
  two x(small(step));
  const bytes out = pattern(100);
  bytes in(100);
  // Of the last number only the first byte is not 0.
  for (std::size_t moves = 0; moves <= 100 + offsetof(wire::trailer, turn); ++moves) {
    x.net.moves = moves;
    if (moves == 0) REQUIRE(put(*x.a, out) == 100);
    x.net.go_on();
    const bool whole_data = step == rung::basic && moves >= 100;
    if (!whole_data) REQUIRE(get(*x.b, in) == 0);
  }
  x.net.moves = ~std::size_t{0};
  x.net.go_on();
  CHECK(get(*x.b, in) == 100);
  CHECK(in == out);
}

TEST_CASE("channel: a pointer that is on its way does not change") {
  two x(small(rung::basic));
  x.here.inline_bytes = 0;
  x.net.moves = 0;
  REQUIRE(put(*x.a, pattern(4)) == 4);
  REQUIRE(put(*x.a, pattern(100)) == 100);
  x.net.moves = sizeof(wire::word);  // up to the second one's data
  x.net.go_on();
  bytes in(200);
  CHECK(get(*x.b, in) == 4);
  x.net.moves = ~std::size_t{0};
  x.net.go_on();
  CHECK(get(*x.b, in) == 100);
}

TEST_CASE("channel: what is long is not copied, and says 0 until it has crossed") {
  const rung step = GENERATE(rung::read, rung::written);
  two x(small(step));
  const bytes out = pattern(9000);
  bytes in(9000);
  CHECK(put(*x.a, out) == 0);
  CHECK(put(*x.a, out) == 0);
  x.net.moves = 4000;
  CHECK(get(*x.b, in) == 0);
  CHECK(put(*x.a, out) == 0);
  CHECK(get(*x.b, in) == 0);
  x.net.moves = ~std::size_t{0};
  x.net.go_on();
  if (step == rung::read) {
    CHECK(get(*x.b, in) == 9000);
    CHECK(put(*x.a, out) == 9000);
    CHECK(x.there.reads == 1);
  } else {
    CHECK(put(*x.a, out) == 9000);
    CHECK(get(*x.b, in) == 9000);
    CHECK(x.there.reads == 0);
  }
  CHECK(in == out);
}

TEST_CASE("channel: what is long and what is short keep their order") {
  const rung step = GENERATE(rung::read, rung::written);
  two x(small(step));
  const bytes head = pattern(10, 1), body = pattern(5000, 2), tail = pattern(20, 3);
  bytes all;
  for (const bytes* part : {&head, &body, &tail}) all.insert(all.end(), part->begin(), part->end());
  bytes in(all.size());
  std::size_t parts = 0, sent = 0, got = 0;
  for (int turn = 0; got != in.size(); ++turn) {
    REQUIRE(turn < 1000);
    if (parts != 3) {
      const bytes& part = *std::array{&head, &body, &tail}[parts];
      sent += put(*x.a, std::span(part).subspan(sent));
      if (sent == part.size()) {
        ++parts;
        sent = 0;
      }
    }
    got += get(*x.b, std::span(in).subspan(got));
  }
  CHECK(in == all);
}

TEST_CASE("channel: a list is put up to what is long, and the rest may change") {
  const rung step = GENERATE(rung::read, rung::written);
  two x(small(step));
  const bytes head = pattern(10), body = pattern(5000), other = pattern(20);
  const const_buffer list[] = {head, body};
  REQUIRE(x.a->put(list) == 10);
  CHECK(put(*x.a, other) == 20);
  bytes in(100);
  CHECK(get(*x.b, in) == 30);
}

TEST_CASE("channel: other bytes than those that are on their way are refused, and do no harm") {
  const rung step = GENERATE(rung::read, rung::written);
  two x(small(step));
  const bytes out = pattern(9000);
  bytes in(9000);
  CHECK(put(*x.a, out) == 0);
  CHECK(end_of([&] { put(*x.a, std::span(out).subspan(1)); }) == errc::invalid_argument);
  x.net.moves = 10;
  CHECK(get(*x.b, in) == 0);
  CHECK(end_of([&] { get(*x.b, std::span(in).subspan(1)); }) == errc::invalid_argument);
  x.net.moves = ~std::size_t{0};
  x.net.go_on();
  REQUIRE(cross(*x.a, *x.b, out, in));
  CHECK(in == out);
}

TEST_CASE("channel: memory that cannot be registered is copied, or the reader says why not") {
  const rung step = GENERATE(rung::read, rung::written);
  two x(small(step));
  const bytes out = pattern(9000);
  bytes in(9000);
  SECTION("the writer's") {
    x.here.lockable = 0;
    REQUIRE(cross(*x.a, *x.b, out, in));
    CHECK(in == out);
  }
  SECTION("the reader's") {
    x.there.lockable = 0;
    put(*x.a, out);
    std::string why;
    CHECK(end_of([&] { get(*x.b, in); }, &why) == errc::out_of_memory);
    CHECK(why.find("no more memory to lock") != std::string::npos);
  }
}

TEST_CASE("channel: after close no device knows memory of the pipe's or the caller's") {
  const rung step = GENERATE(from_range(std::begin(all_rungs), std::end(all_rungs)));
  two x({.step = step, .ring = 1024, .chunk = 256, .threshold = 2000, .regions = {}});
  const bytes out = pattern(9000);
  bytes in(9000);
  put(*x.a, out);
  x.net.moves = 10;
  get(*x.b, in);
  x.b->close();
  CHECK(end_of([&] { get(*x.b, in); }) == errc::closed);
  x.a->close();
  x.a.reset();
  x.b.reset();
  CHECK(x.here.regions_known() == 0);
  CHECK(x.there.regions_known() == 0);
}

TEST_CASE("channel: whose peer has closed finds out by what it writes") {
  const rung step = GENERATE(from_range(std::begin(all_rungs), std::end(all_rungs)));
  two x(small(step));
  x.b->close();
  const bytes out = pattern(8);
  put(*x.a, out);
  std::string why;
  CHECK(end_of([&] { x.a->progress(); }, &why) == errc::peer_lost);
  CHECK(why.find("the connection has broken") != std::string::npos);
}

TEST_CASE("channel: settings and cards that do not fit are refused with the reason") {
  fabric net;
  fake_device here(net), there(net);
  CHECK(end_of([&] { verbs::channel::open(here, {.ring = 1000, .chunk = 256}); }) ==
        errc::invalid_argument);
  CHECK(end_of([&] { verbs::channel::open(here, {.ring = 256, .chunk = 256}); }) ==
        errc::invalid_argument);
  CHECK(end_of([&] { verbs::channel::open(here, {.ring = 1200, .chunk = 60}); }) ==
        errc::invalid_argument);
  const auto a = verbs::channel::open(here, small(rung::read));
  std::string why;
  SECTION("another chunk") {
    auto other = small(rung::read);
    other.chunk = 128;
    const auto b = verbs::channel::open(there, other);
    CHECK(end_of([&] { a->meet(b->card()); }, &why) == errc::invalid_argument);
    CHECK(why.find("chunk 128 there") != std::string::npos);
  }
  SECTION("half a card") {
    CHECK(end_of([&] { a->meet(a->card().first(20)); }) == errc::protocol_error);
  }
  SECTION("something else") {
    const bytes other = pattern(sizeof(verbs::channel::card));
    CHECK(end_of([&] { a->meet(other); }) == errc::protocol_error);
  }
  SECTION("a device that is not read from") {
    there.abilities.reads_at_once = 0;
    const auto b = verbs::channel::open(there, small(rung::read));
    CHECK(end_of([&] { a->meet(b->card()); }) == errc::unsupported);
  }
}
