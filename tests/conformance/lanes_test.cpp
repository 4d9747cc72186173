// SPDX-License-Identifier: Apache-2.0
// Lanes: several engines of one context, over every transport.
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include <unistd.h>

#include <catch2/catch.hpp>

#include <weft/context_address.hpp>
#include <weft/region.hpp>
#include <weft/stream.hpp>

#include "conversation.hpp"
#include "support/transports.hpp"

using namespace conformance;
using namespace weft;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

options with_lanes(unsigned lanes, const std::string& transport,
                   progress_mode progress = progress_mode::dedicated) {
  options o;
  o.standalone = true;
  o.lanes = lanes;
  o.progress = progress;
  o.transports = {"self", transport};
  return o;
}

/// Runs `work` of each lane of a context on a thread of its own. `join` throws their first failure.
class crew {
 public:
  template <class Work>
  void start(context& lane, Work work) {
    threads_.emplace_back([this, &lane, work] {
      try {
        run(lane, work(lane));
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
      }
    });
  }
  void join() {
    for (std::thread& t : threads_) t.join();
    threads_.clear();
    if (failure_) std::rethrow_exception(failure_);
  }
  ~crew() {
    for (std::thread& t : threads_) t.join();
  }

 private:
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

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

// --- ends ------------------------------------------------------------------------------------

template <class Request>
task<void> remember(std::atomic<int>& closed, Request r) {
  closed += co_await outcome(r) == errc::closed;
}

template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const error& e) {
    CHECK(e.kind() == errc::invalid_argument);
    return e.what();
  }
  return "it was done";
}

task<void> until_closed(endpoint e) { co_await e.closed(); }

task<void> ping(endpoint other, int count) {
  std::byte word{};
  for (int i = 0; i != count; ++i) {
    co_await other.send(const_buffer(&word, 1), tag{1});
    co_await other.recv(mutable_buffer(&word, 1), tag{1});
  }
}
task<void> pong(endpoint other, int count) {
  std::byte word{};
  for (int i = 0; i != count; ++i) {
    co_await other.recv(mutable_buffer(&word, 1), tag{1});
    co_await other.send(const_buffer(&word, 1), tag{1});
  }
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
  CHECK_THAT(ctx.describe(), Contains("lane: 0 of 2"));
  CHECK_THAT(one.describe(), Contains("lane: 1 of 2"));
}

TEST_CASE("lanes: one that does not exist") {
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  CAPTURE(transport);
  context a(with_lanes(2, transport)), b(with_lanes(3, transport));
  CHECK_THAT(refusal([&] { a.lane(2); }), Contains("2 lanes") && Contains("no lane 2"));
  CHECK_THAT(refusal([&] { a.lane(1).lane(0); }), Contains("ask the context"));
  CHECK_THAT(refusal([&] { static_cast<void>(a.world()[0].lane(2)); }),
             Contains("2 lanes") && Contains("no lane 2"));
  const endpoint other = peer_at(a.lane(1), context_address_of(b));
  CHECK_THAT(refusal([&] { static_cast<void>(other.lane(32)); }), Contains("no lane 32"));
  const endpoint missing = other.lane(3);
  std::byte word{};
  CHECK_THAT(refusal([&] { sync_wait(a.lane(1), missing.send(const_buffer(&word, 1), tag{1})); }),
             Contains("3 lanes") && Contains("no lane 3"));
  CHECK_THAT(refusal([&] { sync_wait(a.lane(1), missing.recv(mutable_buffer(&word, 1), tag{1})); }),
             Contains("3 lanes") && Contains("no lane 3"));
  CHECK_THAT(refusal([&] {
               sync_wait(a.lane(1), missing.put(const_buffer(&word, 1), remote_region{1, 0, 8}));
             }),
             Contains("3 lanes") && Contains("no lane 3"));
  // The others are well.
  sync_wait(a.lane(1), other.lane(2).send(const_buffer(&word, 1), tag{1}));
  const received got = sync_wait(b.lane(2), b.lane(2).recv(mutable_buffer(&word, 1), any_tag));
  CHECK(b.lane(2).peer(got.source).lane_number() == 1);
}

TEST_CASE("lanes: what is pending in a lane when the context ends, ends with errc::closed") {
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  CAPTURE(transport);
  std::atomic<int> closed{0};
  std::array<std::atomic<int>, 2> told{};
  context other(with_lanes(2, transport));
  std::optional<context> ctx(with_lanes(3, transport));
  const context_address here = context_address_of(*ctx), there = context_address_of(other);
  std::byte word{};
  const mutable_buffer in(&word, 1);
  std::vector<endpoint> here_from_there;
  for (unsigned i = 0; i != 3; ++i) {
    context& lane = ctx->lane(i);
    const endpoint far = peer_at(lane, there).lane(i % 2);
    spawn(lane, remember(closed, lane.recv(in, tag{2})));
    spawn(lane, remember(closed, far.recv(in, tag{2})));
    spawn(lane, remember(closed, lane.world()[0].lane((i + 1) % 3).recv(in, tag{2})));
    sync_wait(lane, far.send(const_buffer(&word, 1), tag{1}));
    sync_wait(other.lane(i % 2), other.lane(i % 2).recv(in, tag{1}));
    const endpoint back = peer_at(other.lane(i % 2), here).lane(i);
    spawn(other.lane(i % 2), remember(told[i % 2], back.recv(in, tag{2})));
  }
  // The lanes talk to each other, and to the other context, while the end begins.
  for (unsigned i = 0; i != 3; ++i) {
    context& lane = ctx->lane(i);
    const auto talk = [](endpoint to) -> task<void> {
      const bytes out = pattern(100'000, 1);
      while (co_await outcome(to.send(out, tag{9})) == errc::ok) {
      }
    };
    const auto hear = [](endpoint from) -> task<void> {
      bytes into(100'000);
      while (co_await outcome(from.recv(into, tag{9})) == errc::ok) {
      }
    };
    spawn(lane, talk(lane.world()[0].lane((i + 1) % 3)));
    spawn(lane, hear(lane.world()[0].lane((i + 2) % 3)));
    sync_wait(lane, sleep_for(1ms));
  }
  CHECK(closed == 0);
  ctx.reset();
  CHECK(closed == 9);
  const auto until_told = [](std::atomic<int>& told, int all) -> task<void> {
    while (told != all) co_await sleep_for(1ms);
  };
  run(other.lane(0), until_told(told[0], 2));
  run(other.lane(1), until_told(told[1], 1));
}

TEST_CASE("lanes: a task of one lane waits for another lane while the context ends") {
  std::atomic<int> closed{0};
  {
    context ctx(with_lanes(2, weft::tests::transports().front()));
    context& one = ctx.lane(1);
    // Each resumes at the home of the other lane, and only then its operation ends.
    const auto across = [](context& here, context& there, std::atomic<int>& count) -> task<void> {
      std::byte word{};
      co_await resume_on(home(there));
      count += co_await outcome(here.recv(mutable_buffer(&word, 1), tag{1})) == errc::closed;
      co_await resume_on(home(here));
      count += co_await outcome(there.recv(mutable_buffer(&word, 1), tag{1})) == errc::closed;
    };
    spawn(ctx, across(ctx, one, closed));
    spawn(one, across(one, ctx, closed));
  }
  CHECK(closed == 4);
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

TEST_CASE("lanes: the end of one connection leaves those of other lanes") {
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  CAPTURE(transport);
  context a(with_lanes(2, transport)), b(with_lanes(2, transport));
  const context_address at_a = context_address_of(a), at_b = context_address_of(b);
  std::byte word{};
  for (unsigned i = 0; i != 2; ++i) {
    sync_wait(a.lane(i), peer_at(a.lane(i), at_b).lane(i).send(const_buffer(&word, 1), tag{1}));
    sync_wait(b.lane(i), b.lane(i).recv(mutable_buffer(&word, 1), tag{1}));
  }
  endpoint first = peer_at(a, at_b);
  first.close();
  crew all;
  all.start(b, [&](context& lane) { return until_closed(peer_at(lane, at_a)); });
  all.start(a, [&](context&) { return until_closed(first); });
  CHECK_NOTHROW(all.join());
  crew rest;
  rest.start(a.lane(1), [&](context& lane) { return ping(peer_at(lane, at_b).lane(1), 10); });
  rest.start(b.lane(1), [&](context& lane) { return pong(peer_at(lane, at_a).lane(1), 10); });
  CHECK_NOTHROW(rest.join());
}

TEST_CASE("lanes: a listener and a meeting belong to a lane") {
  const std::string base = "unix://weft-lanes-" + std::to_string(::getpid());
  context a(with_lanes(2, weft::tests::transports().front()));
  context b(with_lanes(3, weft::tests::transports().front()));
  std::optional<endpoint> there, here;
  crew all;
  const auto accept = [&](context& lane) -> task<void> {
    listener l = co_await lane.listen(base);
    here = co_await l.accept();
    co_await pong(*here, 10);
  };
  const auto connect = [&](context& lane) -> task<void> {
    for (;;) try {
        there = co_await lane.connect(base);
        break;
      } catch (const error& e) {
        if (e.kind() != errc::refused) throw;
      }
    co_await ping(*there, 10);
  };
  all.start(a.lane(1), accept);
  all.start(b.lane(2), connect);
  REQUIRE_NOTHROW(all.join());
  CHECK(there->lane_number() == 1);
  CHECK(here->lane_number() == 2);
  CHECK(there->rank() == no_peer);
  // From one lane that came by itself to the others of its context.
  crew more;
  more.start(a.lane(1), [&](context&) { return ping(here->lane(0), 10); });
  more.start(b.lane(0), [&](context& lane) -> task<void> {
    std::byte word{};
    const received got = co_await lane.recv(mutable_buffer(&word, 1), tag{1});
    const endpoint from = lane.peer(got.source);
    expect(from.lane_number() == 1, "the sender's lane");
    co_await from.send(const_buffer(&word, 1), tag{1});
    co_await pong(from, 9);
  });
  CHECK_NOTHROW(more.join());

  crew third;
  third.start(a.lane(1), [&](context& lane) -> task<void> {
    endpoint e = co_await lane.meet(base + "-a", base + "-b", "x");
    expect(e.lane_number() == 0, "the lane that was met");
    co_await ping(e, 10);
  });
  third.start(b, [&](context& lane) -> task<void> {
    endpoint e = co_await lane.meet(base + "-b", base + "-a", "x");
    expect(e.lane_number() == 1, "the lane that was met");
    co_await pong(e, 10);
  });
  CHECK_NOTHROW(third.join());
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
