// SPDX-License-Identifier: Apache-2.0
// Lanes: several engines of one context, over every transport.
#include <algorithm>
#include <array>

#include <weft/context_address.hpp>
#include <weft/region.hpp>
#include <weft/stream.hpp>

#include "conversation.hpp"
#include "lanes.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"
#include "support/transports.hpp"

using namespace conformance;
using namespace weft;
using weft::tests::contains;
using weft::tests::refusal;

namespace {

// --- every pair ------------------------------------------------------------------------------

constexpr std::uint64_t rounds = 12;

/// Empty, small, of several frames, and with a handshake.
std::size_t size_of(std::uint64_t n) {
  constexpr std::array<std::size_t, 4> sizes{0, 40, 9'000, 200'000};
  return sizes[n % sizes.size()];
}

std::uint64_t seed_of(unsigned from, unsigned to, std::uint64_t n) {
  return from * 10'000u + to * 100u + n;
}

task<void> send_all(endpoint to, unsigned own) {
  for (std::uint64_t n = 0; n != rounds; ++n) {
    const bytes out = pattern(size_of(n), seed_of(own, to.lane_number(), n));
    co_await to.send(out, tag{1}, n + 1);
  }
}

task<void> receive_all(endpoint from, unsigned own) {
  bytes in(200'000);
  for (std::uint64_t n = 0; n != rounds; ++n) {
    const received got = co_await from.recv(in, tag{1});
    expect(got.immediate == n + 1, "messages of one lane to another come in order");
    expect(got.source == from.id(), "and tell their source");
    const bytes sent = pattern(size_of(n), seed_of(from.lane_number(), own, n));
    expect(got.size == sent.size() && std::equal(sent.begin(), sent.end(), in.begin()),
           "and are those that were sent on that pair of lanes");
  }
}

task<void> exchange_with_all(context& lane, endpoint other, unsigned lanes) {
  scope work;
  for (unsigned j = 0; j != lanes; ++j) {
    work.start(send_all(other.lane(j), lane.lane_number()));
    work.start(receive_all(other.lane(j), lane.lane_number()));
  }
  co_await work.join();
}

// --- wildcards -------------------------------------------------------------------------------

task<std::uint64_t> next_of_any(context& lane) {
  co_return (co_await lane.recv(mutable_buffer{}, any_tag)).tag.value;
}

}  // namespace

TEST_CASE("lanes: every pair of lanes of two contexts, which have different numbers of them") {
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  const progress_mode progress = GENERATE(progress_mode::dedicated, progress_mode::polling,
                                          progress_mode::interrupt, progress_mode::two_threads);
  CAPTURE(transport, int(progress));
  context a(with_lanes(3, transport, progress)), b(with_lanes(2, transport, progress));
  const context_address at_a = context_address_of(a), at_b = context_address_of(b);
  crew all;
  for (unsigned i = 0; i != a.lanes(); ++i)
    all.start(a.lane(i), [&](context& lane) {
      return exchange_with_all(lane, peer_at(lane, at_b), b.lanes());
    });
  for (unsigned j = 0; j != b.lanes(); ++j)
    all.start(b.lane(j), [&](context& lane) {
      return exchange_with_all(lane, peer_at(lane, at_a), a.lanes());
    });
  CHECK_NOTHROW(all.join());
}

TEST_CASE("lanes: every pair of lanes of one context, each lane with itself, too") {
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  CAPTURE(transport);
  context ctx(with_lanes(3, transport));
  crew all;
  for (unsigned i = 0; i != ctx.lanes(); ++i)
    all.start(ctx.lane(i),
              [&](context& lane) { return exchange_with_all(lane, lane.world()[0], ctx.lanes()); });
  CHECK_NOTHROW(all.join());
}

TEST_CASE("lanes: wildcards see the messages of their lane only") {
  context ctx(with_lanes(3, weft::tests::transports().front()));
  const endpoint self = ctx.world()[0];
  sync_wait(ctx, self.lane(1).send(const_buffer{}, tag{11}));
  sync_wait(ctx, self.lane(2).send(const_buffer{}, tag{22}));
  sync_wait(ctx, self.send(const_buffer{}, tag{33}));
  CHECK(run(ctx, next_of_any(ctx)) == 33);
  CHECK_FALSE(ctx.try_probe(any_tag));
  CHECK(run(ctx.lane(2), next_of_any(ctx.lane(2))) == 22);
  CHECK(run(ctx.lane(1), next_of_any(ctx.lane(1))) == 11);
  for (unsigned i = 0; i != 3; ++i) CHECK_FALSE(ctx.lane(i).try_probe(any_tag));
}

TEST_CASE("lanes: handles") {
  context ctx(with_lanes(2, weft::tests::transports().front()));
  context& one = ctx.lane(1);
  CHECK(&ctx.lane(0) == &ctx);
  CHECK(&one.lane(1) == &one);
  CHECK(one.lane_number() == 1);
  CHECK(one.lanes() == 2);
  const endpoint self = ctx.world()[0];
  CHECK(self.lane(0) == self);
  CHECK(self.lane(1) == self.lane(1));
  CHECK(self.lane(1) != self);
  CHECK(self.lane(1).lane(0) == self);
  CHECK(self.lane(1).rank() == 0);
  CHECK(self.lane(1).lane_number() == 1);
  CHECK(one.world()[0].lane_number() == 1);  // the world of a lane is that of its number
  CHECK(one.world()[0].id() == 0);
  CHECK(ctx.peer(self.lane(1).id()) == self.lane(1));
  CHECK_THAT(ctx.describe(), contains("lane: 0 of 2"));
  CHECK_THAT(one.describe(), contains("lane: 1 of 2"));
}

TEST_CASE("lanes: one that does not exist") {
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  CAPTURE(transport);
  context a(with_lanes(2, transport)), b(with_lanes(3, transport));
  CHECK_THAT(refusal([&] { a.lane(2); }), contains("2 lanes") && contains("no lane 2"));
  CHECK_THAT(refusal([&] { a.lane(1).lane(0); }), contains("ask the context"));
  CHECK_THAT(refusal([&] { static_cast<void>(a.world()[0].lane(2)); }),
             contains("2 lanes") && contains("no lane 2"));
  const endpoint other = peer_at(a.lane(1), context_address_of(b));
  CHECK_THAT(refusal([&] { static_cast<void>(other.lane(32)); }), contains("no lane 32"));
  const endpoint missing = other.lane(3);
  std::byte word{};
  CHECK_THAT(refusal([&] { sync_wait(a.lane(1), missing.send(const_buffer(&word, 1), tag{1})); }),
             contains("3 lanes") && contains("no lane 3"));
  CHECK_THAT(refusal([&] { sync_wait(a.lane(1), missing.recv(mutable_buffer(&word, 1), tag{1})); }),
             contains("3 lanes") && contains("no lane 3"));
  CHECK_THAT(refusal([&] {
               sync_wait(a.lane(1), missing.put(const_buffer(&word, 1), remote_region{1, 0, 8}));
             }),
             contains("3 lanes") && contains("no lane 3"));
  // The others are well.
  sync_wait(a.lane(1), other.lane(2).send(const_buffer(&word, 1), tag{1}));
  const received got = sync_wait(b.lane(2), b.lane(2).recv(mutable_buffer(&word, 1), any_tag));
  CHECK(b.lane(2).peer(got.source).lane_number() == 1);
}

TEST_CASE("lanes: two threads on two lanes, at once") {
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  CAPTURE(transport);
  context a(with_lanes(2, transport)), b(with_lanes(2, transport));
  const context_address at_a = context_address_of(a), at_b = context_address_of(b);
  constexpr int count = 300;
  crew all;
  for (unsigned i = 0; i != 2; ++i) {
    all.start(a.lane(i),
              [&, i](context& lane) { return ping(peer_at(lane, at_b).lane(i), count); });
    all.start(b.lane(i),
              [&, i](context& lane) { return pong(peer_at(lane, at_a).lane(i), count); });
  }
  CHECK_NOTHROW(all.join());
  for (context* ctx : {&a, &b})
    for (unsigned i = 0; i != 2; ++i) CHECK(ctx->lane(i).snapshot().messages_received == count);
}

TEST_CASE("lanes: regions and streams are a lane's") {
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  CAPTURE(transport);
  context ctx(with_lanes(2, transport));
  context& one = ctx.lane(1);
  std::vector<std::uint64_t> words(8);
  const region memory(one, std::as_writable_bytes(std::span(words)), rights::read_write);
  crew all;
  all.start(ctx, [&](context& lane) -> task<void> {
    const endpoint to = lane.world()[0].lane(1);
    const bytes out = pattern(16, 1);
    expect(co_await to.fetch_add(memory.remote(), 5) == 0, "the word that lane 1 shows");
    co_await to.put(out, memory.remote().part(16, 16), notify{7});
    expect(co_await outcome(lane.world()[0].put(out, memory.remote())) == errc::refused,
           "lane 0 does not show it");
    stream s(to, 1);
    co_await s.write(out);
    s.close();
    co_await s.closed();
  });
  all.start(one, [&](context& lane) -> task<void> {
    expect((co_await memory.notified()).value == 7, "the notification comes to lane 1");
    expect(words[0] == 5, "and the word has changed");
    stream s(lane.world()[0].lane(0), 1);
    bytes in(16);
    co_await s.read(in);
    expect(in == pattern(16, 1), "a stream between two lanes");
  });
  CHECK_NOTHROW(all.join());
}
