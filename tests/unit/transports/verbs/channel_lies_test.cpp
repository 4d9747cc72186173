// SPDX-License-Identifier: Apache-2.0
// Peers of an RDMA channel that write what no correct peer writes: each lie is an error, and the
// error stays.
#include "support/channels.hpp"
#include "support/verbs_liar.hpp"

using namespace channels;
namespace verbs = transports::verbs;
using tests::channel_liar;
using tests::fabric;
using tests::fake_device;

namespace {

/// A pipe with a peer that writes arbitrary bytes anywhere.
struct with_liar {
  fabric net;
  fake_device here{net}, there{net};
  std::unique_ptr<rdma_channel> honest;
  channel_liar liar;

  explicit with_liar(rung step)
      : honest(verbs::channel::open(here, small(step))), liar(there, *honest) {
    const verbs::channel::card own = liar.own_address(liar.card());
    honest->meet(std::as_bytes(std::span(&own, 1)));
  }
  void say(std::size_t word_at, std::uint64_t value) { REQUIRE(liar.say(word_at, value)); }
  void chunk(const wire::trailer& t) { REQUIRE(liar.chunk(0, t)); }
  void offer(std::uint64_t place, std::uint64_t size) {
    const wire::offer o{place, size};
    REQUIRE(liar.write_one(liar.card().chosen.chunk - sizeof(wire::trailer) - sizeof o, o));
    chunk({0, sizeof o, 2, 1});
  }
};

constexpr std::uint32_t plain = 1;

}  // namespace

TEST_CASE("channel: pointers out of range are a protocol error, and stay one") {
  with_liar x(rung::basic);
  bytes memory(2000);
  std::string why;
  SECTION("more written than the ring holds") {
    x.say(offsetof(wire::words, head), 1025);
    CHECK(end_of([&] { get(*x.honest, memory); }, &why) == errc::protocol_error);
    CHECK(why.find("it counts 1025, which cannot be below 0 or above 1024") != std::string::npos);
  }
  SECTION("less written than before") {
    x.say(offsetof(wire::words, head), 1000);
    REQUIRE(get(*x.honest, memory) == 1000);
    x.say(offsetof(wire::words, head), 999);
    CHECK(end_of([&] { get(*x.honest, memory); }) == errc::protocol_error);
  }
  SECTION("more read than was written") {
    x.say(offsetof(wire::words, tail), 1);
    CHECK(end_of([&] { put(*x.honest, memory); }) == errc::protocol_error);
  }
  SECTION("all ones") {
    x.say(offsetof(wire::words, head), ~std::uint64_t{0});
    CHECK(end_of([&] { get(*x.honest, memory); }) == errc::protocol_error);
  }
  CHECK(end_of([&] { get(*x.honest, memory); }) == errc::protocol_error);
  CHECK(end_of([&] { x.honest->progress(); }) == errc::protocol_error);
}

TEST_CASE("channel: a word whose halves do not agree is not there yet") {
  with_liar x(rung::basic);
  const wire::word half{500, ~std::uint64_t{0}};
  REQUIRE(x.liar.write_one(x.liar.card().chosen.ring + offsetof(wire::words, head), half));
  bytes memory(2000);
  CHECK(get(*x.honest, memory) == 0);
}

TEST_CASE("channel: chunks that make no sense are a protocol error") {
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

TEST_CASE("channel: a chunk of another turn is not there") {
  with_liar x(rung::pipelined);
  bytes memory(500);
  x.chunk({0, 8, plain, 5});
  CHECK(get(*x.honest, memory) == 0);
  x.chunk({0, 8, plain, 1});
  CHECK(get(*x.honest, memory) == 8);
  CHECK(get(*x.honest, memory) == 0);
}

TEST_CASE("channel: an offer where nothing is offered is a protocol error") {
  with_liar x(rung::pipelined);
  bytes memory(500);
  x.offer(0, 100);
  CHECK(end_of([&] { get(*x.honest, memory); }) == errc::protocol_error);
}

TEST_CASE("channel: lies about what is long end with a clear error") {
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
      x.say(offsetof(wire::words, moved), 5001);
      CHECK(end_of(put_all) == errc::protocol_error);
    }
  } else {
    const auto invite = [&](std::uint64_t place, std::uint64_t size, std::uint64_t number) {
      const wire::invitation i{place, size, {number, ~number}};
      REQUIRE(x.liar.write_one(x.liar.card().chosen.ring + offsetof(wire::words, invited), i));
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
      x.say(offsetof(wire::words, moved), 3999);
      CHECK(end_of(get_all) == errc::protocol_error);
    }
  }
}
