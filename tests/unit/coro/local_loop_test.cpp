// SPDX-License-Identifier: Apache-2.0
// The coroutine library alone.
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include <weft/coro/as_result.hpp>
#include <weft/coro/local_loop.hpp>
#include <weft/coro/pool.hpp>
#include <weft/coro/time.hpp>
#include <weft/coro/when.hpp>

#include "support/catch.hpp"
#include "this_thread.hpp"

using namespace weft;
using namespace std::chrono_literals;

TEST_CASE("local loop: a task runs to its end, and what it returns or throws comes out") {
  local_loop loop;
  CHECK(run(loop, []() -> task<int> { co_return 7; }()) == 7);
  const auto fails = []() -> task<void> {
    throw std::runtime_error("the test's own");
    co_return;
  };
  CHECK_THROWS_AS(run(loop, fails()), std::runtime_error);
}

TEST_CASE("local loop: timers end in order, and a deadline stops what it is for") {
  local_loop loop;
  std::vector<int> order;
  run(loop, [](std::vector<int>& seen) -> task<void> {
    const auto after = [&](std::chrono::milliseconds pause, int n) -> task<void> {
      co_await sleep_for(pause);
      seen.push_back(n);
    };
    co_await when_all(after(20ms, 2), after(1ms, 1));
    const auto late = co_await as_result(within(1ms, sleep_for(1h)));
    CHECK(late.code() == errc::timed_out);
  }(order));
  CHECK(order == std::vector<int>{1, 2});
}

TEST_CASE("local loop: coroutines go to a pool and come home") {
  local_loop loop;
  pool workers(2);
  // Two run at once, and Catch's checks are for one thread: each tells where it was.
  const auto visits = [](local_loop& l, pool& p) -> task<std::vector<std::thread::id>> {
    std::vector<std::thread::id> seen;
    co_await resume_on(p);
    seen.push_back(this_thread());
    co_await sleep_for(1ms);
    seen.push_back(this_thread());
    co_await resume_on(l.home());
    seen.push_back(this_thread());
    co_return seen;
  };
  const auto [one, other] = run(loop, when_all(visits(loop, workers), visits(loop, workers)));
  for (const auto& seen : {one, other}) {
    REQUIRE(seen.size() == 3);
    CHECK(seen[0] != this_thread());
    CHECK(seen[1] != this_thread());
    CHECK(seen[2] == this_thread());
  }
}

TEST_CASE("local loop: a second thread waits for the first to leave") {
  local_loop loop;
  int runs = 0;
  const auto one = [](int& n) -> task<void> {
    co_await sleep_for(2ms);
    ++n;
  };
  std::thread other([&] { run(loop, one(runs)); });
  run(loop, one(runs));
  other.join();
  CHECK(runs == 2);
}
