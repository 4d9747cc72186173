// SPDX-License-Identifier: Apache-2.0
// How lanes end, and how they connect by address.
#include <array>
#include <atomic>
#include <chrono>
#include <optional>

#include <unistd.h>

#include <weft/context_address.hpp>
#include <weft/coro/pool.hpp>

#include "conversation.hpp"
#include "lanes.hpp"
#include "support/catch.hpp"
#include "support/transports.hpp"

using namespace conformance;
using namespace weft;
using namespace std::chrono_literals;

namespace {

template <class Request>
task<void> count_closed(std::atomic<int>& closed, Request r) {
  closed += co_await outcome(r) == errc::closed;
}

/// Tasks that were spawned before have run up to their first wait.
task<void> behind_what_was_spawned(context& lane) { co_await resume_on(home(lane)); }

task<void> until_closed(endpoint e) { co_await e.closed(); }

}  // namespace

TEST_CASE("lanes: what is pending in a lane when the context ends, ends with errc::closed") {
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  CAPTURE(transport);
  std::atomic<int> closed{0};
  std::array<std::atomic<int>, 2> closed_there{};
  context other(with_lanes(2, transport));
  std::optional<context> ctx(with_lanes(3, transport));
  const context_address here = context_address_of(*ctx), there = context_address_of(other);
  std::byte word{};
  const mutable_buffer in(&word, 1);
  std::vector<endpoint> here_from_there;
  for (unsigned i = 0; i != 3; ++i) {
    context& lane = ctx->lane(i);
    const endpoint far = peer_at(lane, there).lane(i % 2);
    spawn(lane, count_closed(closed, lane.recv(in, tag{2})));
    spawn(lane, count_closed(closed, far.recv(in, tag{2})));
    spawn(lane, count_closed(closed, lane.world()[0].lane((i + 1) % 3).recv(in, tag{2})));
    sync_wait(lane, far.send(const_buffer(&word, 1), tag{1}));
    sync_wait(other.lane(i % 2), other.lane(i % 2).recv(in, tag{1}));
    const endpoint back = peer_at(other.lane(i % 2), here).lane(i);
    spawn(other.lane(i % 2), count_closed(closed_there[i % 2], back.recv(in, tag{2})));
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
    run(lane, behind_what_was_spawned(lane));
  }
  CHECK(closed == 0);
  ctx.reset();
  CHECK(closed == 9);
  const auto until = [](std::atomic<int>& count, int all) -> task<void> {
    while (count != all) co_await sleep_for(1ms);
  };
  run(other.lane(0), until(closed_there[0], 2));
  run(other.lane(1), until(closed_there[1], 1));
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

TEST_CASE("lanes: a task that a task of another lane spawns during the end is waited for") {
  pool workers(1);
  std::atomic<int> hops{0};
  // They outlive the tasks, which end with the context.
  const auto hop = [](context& lane, pool& p, std::atomic<int>& count) -> task<void> {
    for (int i = 0; i != 100; ++i) {
      co_await resume_on(p);
      co_await resume_on(home(lane));
      ++count;
    }
  };
  const auto spawns = [&hop](context& here, pool& p, std::atomic<int>& count) -> task<void> {
    std::byte word{};
    expect(co_await outcome(here.recv(mutable_buffer(&word, 1), tag{1})) == errc::closed,
           "the context ends");
    co_await hop(here, p, count);  // beyond the moment when lane 1 is found without tasks
    spawn(here.lane(1), hop(here.lane(1), p, count));
  };
  {
    context ctx(with_lanes(2, weft::tests::transports().front()));
    spawn(ctx, spawns(ctx, workers, hops));
  }
  CHECK(hops == 200);
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
  // Before the end: later, the address would lead to a new connection.
  const endpoint back = peer_at(b, at_a);
  first.close();
  crew all;
  all.start(b, [&](context&) { return until_closed(back); });
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
