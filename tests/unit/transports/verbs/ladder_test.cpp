// SPDX-License-Identifier: Apache-2.0
// The pipes of the ladder on devices made of memory: bytes in order, rings that wrap and fill, what
// is told when, and peers that lie.
#include <array>

#include "support/verbs_fabric.hpp"
#include "support/verbs_pipes.hpp"
#include "transports/verbs/ladder/wire.hpp"

using namespace pipes;
using tests::fabric;
using tests::fake_device;

namespace {

/// So small that everything wraps.
ladder::settings small(rung step) {
  return {.step = step, .ring = 1024, .chunk = 256, .threshold = 2000};
}

struct two {
  fabric net;
  fake_device here{net}, there{net};
  std::unique_ptr<ladder::pipe> a, b;

  explicit two(const ladder::settings& s) : a(ladder::open(here, s)), b(ladder::open(there, s)) {
    meet(*a, *b);
  }
};

/// A pipe whose peer writes what it likes where it likes.
struct with_liar {
  fabric net;
  fake_device here{net}, there{net};
  std::unique_ptr<ladder::pipe> honest;
  std::unique_ptr<verbs::queue_pair> liar = there.make_queue_pair();
  ladder::card card{};
  // What the honest one writes to, and nobody reads.
  alignas(4096) std::array<std::byte, 8192> ignored{};
  std::unique_ptr<verbs::registration> known =
      there.enroll(ignored, 0, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

  explicit with_liar(rung step) : honest(ladder::open(here, small(step))) {
    std::memcpy(&card, honest->card().data(), sizeof card);
    liar->connect(card.at, 0, std::chrono::seconds(1));
    ladder::card own = card;
    own.at.queue_pair = liar->number();
    own.key = known->remote_key();
    honest->meet(std::as_bytes(std::span(&own, 1)));
    there.inline_bytes = 4096;
  }
  void write(std::uint64_t at, std::span<const std::byte> what) {
    ibv_sge piece{reinterpret_cast<std::uintptr_t>(what.data()),
                  static_cast<std::uint32_t>(what.size()), 0};
    ibv_send_wr work{};
    work.sg_list = &piece;
    work.num_sge = 1;
    work.opcode = IBV_WR_RDMA_WRITE;
    work.send_flags = IBV_SEND_INLINE;
    work.wr.rdma = {at, card.key};
    REQUIRE(liar->post(work) == 0);
  }
  void say(std::size_t word_at, std::uint64_t value) {
    const ladder::word w{value, ~value};
    write(card.ring + word_at, std::as_bytes(std::span(&w, 1)));
  }
  void chunk(const ladder::trailer& t, std::size_t number = 0) {
    write((number + 1) * card.chunk - sizeof t, std::as_bytes(std::span(&t, 1)));
  }
  void offer(std::uint64_t place, std::uint64_t size) {
    const ladder::offer o{place, size};
    write(card.chunk - sizeof(ladder::trailer) - sizeof o, std::as_bytes(std::span(&o, 1)));
    chunk({0, sizeof o, 2, 1});
  }
};

/// \return how it ended; ok: it did not
template <class Call>
errc end_of(Call call, std::string* what = nullptr) {
  try {
    call();
  } catch (const error& e) {
    if (what) *what = e.what();
    return e.kind();
  }
  return errc::ok;
}

constexpr std::uint32_t plain = 1;

}  // namespace

TEST_CASE("ladder: bytes arrive in order, whatever the calls are for") {
  const rung step = GENERATE(from_range(std::begin(all_rungs), std::end(all_rungs)));
  CAPTURE(int(step));
  for (const std::size_t put_at_once : {1ul, 100ul, 1023ul, 1024ul, 5000ul, 100'000ul})
    for (const std::size_t got_at_once : {3ul, 232ul, 1024ul, 4001ul, 100'000ul}) {
      two x(small(step));
      const bytes out = pattern(20'000, put_at_once + got_at_once);
      bytes in(out.size());
      REQUIRE(cross(*x.a, *x.b, out, in, put_at_once, got_at_once));
      if (in != out) FAIL(put_at_once << " and " << got_at_once);
      bytes back(out.size());
      REQUIRE(cross(*x.b, *x.a, out, back, got_at_once, put_at_once));
      CHECK(back == out);
    }
}

TEST_CASE("ladder: both directions at once, and devices that take nothing inline") {
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

TEST_CASE("ladder: lists of buffers are put and got as if they were one") {
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

TEST_CASE("ladder: a full ring takes nothing until something was read") {
  const rung step = GENERATE(rung::basic, rung::piggyback, rung::pipelined, rung::read);
  two x(small(step));
  const bytes out = pattern(1900);
  const std::size_t taken = put(*x.a, out);
  CHECK(taken == (step == rung::basic ? 1024 : 4 * (256 - sizeof(ladder::trailer))));
  CHECK(put(*x.a, out) == 0);
  x.a->progress();
  CHECK(put(*x.a, out) == 0);
  bytes in(taken);
  REQUIRE(get(*x.b, in) == taken);
  CHECK(std::equal(in.begin(), in.end(), out.begin()));
  CHECK(put(*x.a, out) == taken);
}

TEST_CASE("ladder: basic writes data and each pointer apart, the others all at once") {
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
  CHECK(writes(rung::piggyback, 100, true) == 200);  // what was read is told by the answers
  CHECK(writes(rung::pipelined, 100, true) == 200);
  CHECK(writes(rung::basic, 96, false) == 3 * 96);
  CHECK(writes(rung::piggyback, 96, false) == 96 + 96 / 8);  // by a word for half of 16 chunks
}

TEST_CASE("ladder: pipelined writes a chunk before it copies the next one") {
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

TEST_CASE("ladder: who only puts learns of what was read from chunks that it has not read") {
  const rung step = GENERATE(rung::piggyback, rung::pipelined, rung::written);
  two x(small(step));
  const bytes out = pattern(1000), word = pattern(8);
  bytes in(1000);
  REQUIRE(put(*x.a, out) == 928);
  REQUIRE(get(*x.b, std::span(in).first(232)) == 232);
  REQUIRE(put(*x.b, word) == 8);  // takes along that one chunk was read
  CHECK(put(*x.a, out) == 232);
}

TEST_CASE("ladder: half a write is not seen") {
  const rung step = GENERATE(rung::basic, rung::piggyback, rung::pipelined);
  two x(small(step));
  const bytes out = pattern(100);
  bytes in(100);
  // Of the last number only the first byte is not 0.
  for (std::size_t moves = 0; moves <= 100 + offsetof(ladder::trailer, turn); ++moves) {
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

TEST_CASE("ladder: a pointer that is on its way does not change") {
  two x(small(rung::basic));
  x.here.inline_bytes = 0;
  x.net.moves = 0;
  REQUIRE(put(*x.a, pattern(4)) == 4);
  REQUIRE(put(*x.a, pattern(100)) == 100);
  x.net.moves = sizeof(ladder::word);  // as far as into the second one's data
  x.net.go_on();
  bytes in(200);
  CHECK(get(*x.b, in) == 4);
  x.net.moves = ~std::size_t{0};
  x.net.go_on();
  CHECK(get(*x.b, in) == 100);
}

TEST_CASE("ladder: what is long is not copied, and says 0 until it has crossed") {
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

TEST_CASE("ladder: what is long and what is short keep their order") {
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

TEST_CASE("ladder: a list is put up to what is long, and binds nobody to the rest") {
  const rung step = GENERATE(rung::read, rung::written);
  two x(small(step));
  const bytes head = pattern(10), body = pattern(5000), other = pattern(20);
  const const_buffer list[] = {head, body};
  REQUIRE(x.a->put(list) == 10);
  CHECK(put(*x.a, other) == 20);
  bytes in(100);
  CHECK(get(*x.b, in) == 30);
}

TEST_CASE("ladder: other bytes than those that are on their way are refused, and do no harm") {
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

TEST_CASE("ladder: memory that cannot be registered is copied, or the reader says why not") {
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

TEST_CASE("ladder: after close no device knows memory of the pipe's or the caller's") {
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

TEST_CASE("ladder: whose peer has closed finds out by what it writes") {
  const rung step = GENERATE(from_range(std::begin(all_rungs), std::end(all_rungs)));
  two x(small(step));
  x.b->close();
  const bytes out = pattern(8);
  put(*x.a, out);
  std::string why;
  CHECK(end_of([&] { x.a->progress(); }, &why) == errc::peer_lost);
  CHECK(why.find("the connection has broken") != std::string::npos);
}

TEST_CASE("ladder: settings and cards that do not fit are refused with the reason") {
  fabric net;
  fake_device here(net), there(net);
  CHECK(end_of([&] { ladder::open(here, {.ring = 1000, .chunk = 256}); }) ==
        errc::invalid_argument);
  CHECK(end_of([&] { ladder::open(here, {.ring = 256, .chunk = 256}); }) == errc::invalid_argument);
  CHECK(end_of([&] { ladder::open(here, {.ring = 1200, .chunk = 60}); }) == errc::invalid_argument);
  const auto a = ladder::open(here, small(rung::read));
  std::string why;
  SECTION("another chunk") {
    auto other = small(rung::read);
    other.chunk = 128;
    const auto b = ladder::open(there, other);
    CHECK(end_of([&] { a->meet(b->card()); }, &why) == errc::invalid_argument);
    CHECK(why.find("chunk 128 there") != std::string::npos);
  }
  SECTION("half a card") {
    CHECK(end_of([&] { a->meet(a->card().first(20)); }) == errc::protocol_error);
  }
  SECTION("something else") {
    const bytes other = pattern(sizeof(ladder::card));
    CHECK(end_of([&] { a->meet(other); }) == errc::protocol_error);
  }
  SECTION("a device that is not read from") {
    there.abilities.reads_at_once = 0;
    const auto b = ladder::open(there, small(rung::read));
    CHECK(end_of([&] { a->meet(b->card()); }) == errc::unsupported);
  }
}

TEST_CASE("ladder: pointers out of range are a protocol error, and stay one") {
  with_liar x(rung::basic);
  bytes memory(2000);
  std::string why;
  SECTION("more written than the ring holds") {
    x.say(offsetof(ladder::words, head), 1025);
    CHECK(end_of([&] { get(*x.honest, memory); }, &why) == errc::protocol_error);
    CHECK(why.find("it counts 1025, which cannot be below 0 or above 1024") != std::string::npos);
  }
  SECTION("less written than before") {
    x.say(offsetof(ladder::words, head), 1000);
    REQUIRE(get(*x.honest, memory) == 1000);
    x.say(offsetof(ladder::words, head), 999);
    CHECK(end_of([&] { get(*x.honest, memory); }) == errc::protocol_error);
  }
  SECTION("more read than was written") {
    x.say(offsetof(ladder::words, tail), 1);
    CHECK(end_of([&] { put(*x.honest, memory); }) == errc::protocol_error);
  }
  SECTION("all ones") {
    x.say(offsetof(ladder::words, head), ~std::uint64_t{0});
    CHECK(end_of([&] { get(*x.honest, memory); }) == errc::protocol_error);
  }
  CHECK(end_of([&] { get(*x.honest, memory); }) == errc::protocol_error);
  CHECK(end_of([&] { x.honest->progress(); }) == errc::protocol_error);
}

TEST_CASE("ladder: a word whose halves do not agree is not there yet") {
  with_liar x(rung::basic);
  const ladder::word half{500, ~std::uint64_t{0}};
  x.write(x.card.ring + offsetof(ladder::words, head), std::as_bytes(std::span(&half, 1)));
  bytes memory(2000);
  CHECK(get(*x.honest, memory) == 0);
}

TEST_CASE("ladder: chunks that make no sense are a protocol error") {
  const rung step = GENERATE(rung::piggyback, rung::pipelined, rung::read, rung::written);
  with_liar x(step);
  bytes memory(5000);
  std::string why;
  SECTION("more than fits") { x.chunk({0, 233, plain, 1}); }
  SECTION("far more") { x.chunk({0, ~0u, plain, 1}); }
  SECTION("nothing") { x.chunk({0, 0, plain, 1}); }
  SECTION("no such kind") { x.chunk({0, 16, 3, 1}); }
  SECTION("half an offer") { x.chunk({0, 8, 2, 1}); }
  SECTION("more read than was sent") { x.chunk({1, 8, plain, 1}); }
  CHECK(end_of([&] { get(*x.honest, memory); }, &why) == errc::protocol_error);
  CHECK(why.find("the peer breaks the rules") != std::string::npos);
}

TEST_CASE("ladder: a chunk of another turn is not there") {
  with_liar x(rung::pipelined);
  bytes memory(500);
  x.chunk({0, 8, plain, 5});
  CHECK(get(*x.honest, memory) == 0);
  x.chunk({0, 8, plain, 1});
  CHECK(get(*x.honest, memory) == 8);
  CHECK(get(*x.honest, memory) == 0);
}

TEST_CASE("ladder: an offer where nothing is offered is a protocol error") {
  with_liar x(rung::pipelined);
  bytes memory(500);
  x.offer(0, 100);
  CHECK(end_of([&] { get(*x.honest, memory); }) == errc::protocol_error);
}

TEST_CASE("ladder: lies about what is long end with a clear error") {
  const rung step = GENERATE(rung::read, rung::written);
  with_liar x(step);
  bytes memory(5000);
  const auto put_all = [&] {
    for (int i = 0; i != 3; ++i) put(*x.honest, memory);
  };
  const auto get_all = [&] {
    for (int i = 0; i != 3; ++i) get(*x.honest, memory);
  };
  SECTION("nothing is offered") {
    x.offer(0, 0);
    CHECK(end_of(get_all) == errc::protocol_error);
  }
  if (step == rung::read) {
    SECTION("a key that nobody knows") {
      x.offer(~std::uint64_t{0} << 32, 4000);
      CHECK(end_of(get_all) == errc::peer_lost);
    }
    SECTION("more was read than offered") {
      REQUIRE(put(*x.honest, memory) == 0);
      x.say(offsetof(ladder::words, moved), 5001);
      CHECK(end_of(put_all) == errc::protocol_error);
    }
  } else {
    const auto invite = [&](std::uint64_t place, std::uint64_t size, std::uint64_t number) {
      const ladder::invitation i{place, size, {number, ~number}};
      x.write(x.card.ring + offsetof(ladder::words, invited), std::as_bytes(std::span(&i, 1)));
    };
    SECTION("more is invited than was offered") {
      REQUIRE(put(*x.honest, memory) == 0);
      invite(0, 5001, 1);
      CHECK(end_of(put_all) == errc::protocol_error);
    }
    SECTION("nothing is invited") {
      REQUIRE(put(*x.honest, memory) == 0);
      invite(0, 0, 1);
      CHECK(end_of(put_all) == errc::protocol_error);
    }
    SECTION("an invitation to what was not offered is none") {
      REQUIRE(put(*x.honest, memory) == 0);
      invite(0, 5000, 2);
      CHECK(end_of(put_all) == errc::ok);
    }
    SECTION("to where nobody may write") {
      REQUIRE(put(*x.honest, memory) == 0);
      invite(~std::uint64_t{0} << 32, 5000, 1);
      CHECK(end_of(put_all) == errc::peer_lost);
    }
    SECTION("less was written than invited") {
      x.offer(0, 4000);
      REQUIRE(get(*x.honest, memory) == 0);
      x.say(offsetof(ladder::words, moved), 3999);
      CHECK(end_of(get_all) == errc::protocol_error);
    }
  }
}
