// SPDX-License-Identifier: Apache-2.0
// All tests use a clock that only the test moves.
#include <chrono>
#include <string>

#include <weft/coro/as_result.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/time.hpp>

#include "manual.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

task<int> slow_get(manual::box& from) {
  int first = co_await from.get();
  int second = co_await from.get();
  co_return first + second;
}

task<void> limited(manual::box& from, std::chrono::milliseconds limit, int& got) {
  got = co_await within(limit, from.get());
}

}  // namespace

TEST_CASE("sleeping ends when its time has come and not before") {
  manual::loop loop;
  manual::spawned task_environment(loop, sleep_for(10ms));
  loop.advance(9ms);
  CHECK_FALSE(task_environment.ended());
  loop.advance(1ms);
  CHECK(task_environment.failure() == errc::ok);

  manual::spawned past(loop, sleep_until(loop.now() - 1h));
  loop.advance(0ms);
  CHECK(past.failure() == errc::ok);
}

TEST_CASE("sleeping counts from the moment when it is awaited") {
  manual::loop loop;
  task<void> nap = sleep_for(10ms);
  loop.advance(1h);
  manual::spawned task_environment(loop, std::move(nap));
  loop.advance(9ms);
  CHECK_FALSE(task_environment.ended());
  loop.advance(1ms);
  CHECK(task_environment.ended());
}

TEST_CASE("a sleeper can be stopped, before and after it fell asleep") {
  manual::loop loop;
  std::stop_source stop;
  manual::spawned asleep(loop, sleep_for(10ms), stop.get_token());
  stop.request_stop();
  loop.run();
  CHECK(asleep.failure() == errc::stopped);
  manual::spawned never(loop, sleep_for(10ms), stop.get_token());
  loop.run();
  CHECK(never.failure() == errc::stopped);
  CHECK(loop.waiting_timers() == 0);
}

TEST_CASE("within: what ends in time keeps its value, and the timer is gone") {
  manual::loop loop;
  manual::box numbers(loop);
  int got = 0;
  manual::spawned task_environment(loop, limited(numbers, 10ms, got));
  loop.advance(9ms);
  numbers.put(4);
  loop.run();
  CHECK(task_environment.failure() == errc::ok);
  CHECK(got == 4);
  CHECK(loop.waiting_timers() == 0);
}

TEST_CASE("within: the deadline ends it, and by then it has ended") {
  manual::loop loop;
  manual::box numbers(loop);
  int got = 0;
  manual::spawned task_environment(loop, limited(numbers, 10ms, got));
  loop.advance(10ms);
  CHECK(task_environment.failure() == errc::timed_out);
  CHECK_THROWS_WITH(task_environment.get(),
                    weft::tests::starts_with("the deadline of 10 ms passed: "));
  CHECK(numbers.waiting() == 0);
}

TEST_CASE("within: what cannot be stopped any more keeps its value") {
  manual::loop loop;
  manual::box numbers(loop);
  numbers.refuses_to_stop = true;
  int got = 0;
  manual::spawned task_environment(loop, limited(numbers, 10ms, got));
  loop.advance(10ms);
  CHECK(numbers.cancels == 1);
  CHECK_FALSE(task_environment.ended());
  numbers.put(8);
  loop.run();
  CHECK(task_environment.failure() == errc::ok);
  CHECK(got == 8);
}

TEST_CASE("within: other failures stay what they are, also after the deadline") {
  manual::loop loop;
  manual::box numbers(loop);
  numbers.refuses_to_stop = true;
  int got = 0;
  manual::spawned task_environment(loop, limited(numbers, 10ms, got));
  loop.advance(10ms);
  numbers.fail(errc::peer_lost);
  loop.run();
  CHECK(task_environment.failure() == errc::peer_lost);
}

TEST_CASE("within: a stop from outside is no timeout") {
  manual::loop loop;
  manual::box numbers(loop);
  int got = 0;
  std::stop_source stop;

  SECTION("while it waits") {
    manual::spawned task_environment(loop, limited(numbers, 10ms, got), stop.get_token());
    stop.request_stop();
    loop.run();
    CHECK(task_environment.failure() == errc::stopped);
  }
  SECTION("before it began") {
    stop.request_stop();
    manual::spawned task_environment(loop, limited(numbers, 10ms, got), stop.get_token());
    loop.run();
    CHECK(task_environment.failure() == errc::stopped);
  }
  SECTION("even when the deadline passes before it has ended") {
    numbers.refuses_to_stop = true;
    manual::spawned task_environment(loop, limited(numbers, 10ms, got), stop.get_token());
    stop.request_stop();
    loop.advance(20ms);
    numbers.fail(errc::stopped);
    loop.run();
    CHECK(task_environment.failure() == errc::stopped);
  }
}

TEST_CASE("within nests: the earlier deadline wins and each reports its own") {
  manual::loop loop;
  manual::box numbers(loop);
  auto nested = [](manual::box& from, std::chrono::milliseconds outer,
                   std::chrono::milliseconds inner, errc& inside) -> task<void> {
    auto body = [](manual::box& b, std::chrono::milliseconds d, errc& how) -> task<void> {
      result<int> r = co_await as_result(within(d, slow_get(b)));
      how = r.code();
      if (!r) throw r.failure();
    };
    co_await within(outer, body(from, inner, inside));
  };
  errc inside = errc::ok;

  SECTION("inner first") {
    manual::spawned task_environment(loop, nested(numbers, 20ms, 10ms, inside));
    numbers.put(1);
    loop.advance(10ms);
    CHECK(inside == errc::timed_out);
    CHECK(task_environment.failure() == errc::timed_out);
  }
  SECTION("outer first: the inner one is stopped") {
    manual::spawned task_environment(loop, nested(numbers, 10ms, 20ms, inside));
    loop.advance(10ms);
    CHECK(inside == errc::stopped);
    CHECK(task_environment.failure() == errc::timed_out);
  }
  SECTION("stopped from outside of both") {
    std::stop_source stop;
    manual::spawned task_environment(loop, nested(numbers, 10ms, 20ms, inside), stop.get_token());
    stop.request_stop();
    loop.run();
    CHECK(inside == errc::stopped);
    CHECK(task_environment.failure() == errc::stopped);
  }
  CHECK(loop.waiting_timers() == 0);
}

TEST_CASE("after a within the chain obeys its own token again") {
  manual::loop loop;
  manual::box numbers(loop);
  auto two = [](manual::box& from) -> task<void> {
    result<int> first = co_await as_result(within(10ms, from.get()));
    CHECK(first.code() == errc::timed_out);
    int second = co_await from.get();
    CHECK(second == 2);
    co_await from.get();
  };
  std::stop_source stop;
  manual::spawned task_environment(loop, two(numbers), stop.get_token());
  loop.advance(10ms);
  numbers.put(2);
  loop.run();
  CHECK_FALSE(task_environment.ended());
  stop.request_stop();
  loop.run();
  CHECK(task_environment.failure() == errc::stopped);
}

TEST_CASE("within limits the join of a scope and thereby all that is in it") {
  manual::loop loop;
  manual::box numbers(loop);
  auto body = [](manual::box& from) -> task<void> {
    scope fly;
    fly.start(from.get());
    fly.start(slow_get(from));
    co_await within(10ms, fly.join());
  };
  manual::spawned task_environment(loop, body(numbers));
  CHECK(numbers.waiting() == 2);
  loop.advance(10ms);
  CHECK(task_environment.failure() == errc::timed_out);
  CHECK_THROWS_WITH(task_environment.get(),
                    weft::tests::starts_with("the deadline of 10 ms passed: "));
  CHECK(numbers.waiting() == 0);
}

TEST_CASE("until takes a moment, and spans beyond the clock's end are for ever") {
  manual::loop loop;
  manual::box numbers(loop);
  auto body = [](manual::loop& clock, manual::box& from) -> task<void> {
    result<int> past = co_await as_result(until(clock.now() - 1s, from.get()));
    CHECK(past.code() == errc::timed_out);
    int got = co_await within(std::chrono::hours::max(), from.get());
    CHECK(got == 3);
    co_await within(std::chrono::nanoseconds::max(), from.get());
  };
  manual::spawned task_environment(loop, body(loop, numbers));
  loop.advance(0ms);
  loop.advance(24h);
  numbers.put(3);
  loop.run();
  loop.advance(24h);
  numbers.put(4);
  loop.run();
  CHECK(task_environment.failure() == errc::ok);
}

TEST_CASE("stoppable adds a token to that of the chain") {
  manual::loop loop;
  manual::box numbers(loop);
  std::stop_source outer, own;
  auto body = [](std::stop_token stop, manual::box& from) -> task<void> {
    co_await stoppable(stop, from.get());
  };
  SECTION("its own") {
    manual::spawned task_environment(loop, body(own.get_token(), numbers), outer.get_token());
    own.request_stop();
    loop.run();
    CHECK(task_environment.failure() == errc::stopped);
  }
  SECTION("the chain's") {
    manual::spawned task_environment(loop, body(own.get_token(), numbers), outer.get_token());
    outer.request_stop();
    loop.run();
    CHECK(task_environment.failure() == errc::stopped);
  }
  SECTION("neither") {
    manual::spawned task_environment(loop, body(own.get_token(), numbers), outer.get_token());
    numbers.put(1);
    loop.run();
    CHECK(task_environment.failure() == errc::ok);
  }
}

TEST_CASE("a chain without a clock is told how to get one") {
  struct owner final : detail::detached_task_owner {
    std::exception_ptr failure;
    void task_ended(std::exception_ptr f) noexcept override { failure = std::move(f); }
  } root;
  detail::start_detached(root, task_environment{}, sleep_for(1ms), [] {});
  REQUIRE(root.failure);
  try {
    std::rethrow_exception(root.failure);
  } catch (const error& e) {
    CHECK(e.kind() == errc::invalid_argument);
    CHECK(std::string(e.what()).find("run or spawn") != std::string::npos);
  }
}

TEST_CASE("no memory for a timer ends sleeping and deadlines with that reason") {
  manual::loop loop;
  manual::box numbers(loop);
  loop.out_of_memory = true;
  manual::spawned sleeper(loop, sleep_for(1ms));
  int got = 0;
  manual::spawned limit(loop, limited(numbers, 10ms, got));
  loop.run();
  CHECK(sleeper.failure() == errc::out_of_memory);
  CHECK(limit.failure() == errc::out_of_memory);
  CHECK(numbers.waiting() == 0);
}

TEST_CASE("the end of the clock ends sleeping and deadlines with closed") {
  manual::loop loop;
  manual::box numbers(loop);
  manual::spawned sleeper(loop, sleep_for(1ms));
  int got = 0;
  manual::spawned limit(loop, limited(numbers, 10ms, got));
  CHECK(numbers.waiting() == 1);
  loop.close_timers();
  CHECK(sleeper.failure() == errc::closed);
  CHECK(limit.failure() == errc::closed);
  CHECK(numbers.waiting() == 0);
  manual::spawned late(loop, sleep_for(1ms));
  loop.run();
  CHECK(late.failure() == errc::closed);
}
