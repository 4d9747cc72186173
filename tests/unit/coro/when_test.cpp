// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <weft/coro/as_result.hpp>
#include <weft/coro/time.hpp>
#include <weft/coro/when.hpp>

#include "manual.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

task<std::unique_ptr<int>> boxed(int value) { co_return std::make_unique<int>(value); }

task<void> throws_later(manual::box& when) {
  co_await when.get();
  throw std::runtime_error("not ours");
}

}  // namespace

TEST_CASE("when_all yields every value in order, monostate for void") {
  manual::loop loop;
  manual::box numbers(loop);
  auto body = [](manual::box& from) -> task<void> {
    auto [number, pointer, nothing] = co_await when_all(from.get(), boxed(6), sleep_for(1ms));
    CHECK(number == 5);
    CHECK(*pointer == 6);
    STATIC_REQUIRE(std::is_same_v<std::remove_cvref_t<decltype(nothing)>, std::monostate>);
  };
  manual::spawned task_environment(loop, body(numbers));
  loop.advance(1ms);
  CHECK_FALSE(task_environment.ended());
  numbers.put(5);
  loop.run();
  task_environment.get();
}

TEST_CASE("when_all: the first failure stops the rest and is thrown after all have ended") {
  manual::loop loop;
  manual::box numbers(loop), stubborn(loop);
  stubborn.refuses_to_stop = true;
  auto body = [](manual::box& a, manual::box& b, manual::box& late) -> task<void> {
    co_await when_all(a.get(), b.get(), late.get());
  };
  manual::box other(loop);
  manual::spawned task_environment(loop, body(numbers, other, stubborn));
  numbers.fail(errc::peer_lost);
  loop.run();
  CHECK(other.waiting() == 0);
  CHECK(stubborn.cancels == 1);
  CHECK_FALSE(task_environment.ended());
  stubborn.fail(errc::closed);
  loop.run();
  CHECK(task_environment.failure() == errc::peer_lost);
}

TEST_CASE("when_all passes on exceptions that are not weft's") {
  manual::loop loop;
  manual::box numbers(loop);
  auto body = [](manual::box& from) -> task<void> {
    co_await when_all(throws_later(from), sleep_for(1h));
  };
  manual::spawned task_environment(loop, body(numbers));
  numbers.put(0);
  loop.run();
  CHECK_THROWS_AS(task_environment.get(), std::runtime_error);
  CHECK(loop.waiting_timers() == 0);
}

TEST_CASE("when_all under a stop from outside ends with errc::stopped") {
  manual::loop loop;
  manual::box numbers(loop);
  auto body = [](manual::box& from) -> task<void> { co_await when_all(from.get(), from.get()); };
  std::stop_source stop;
  manual::spawned task_environment(loop, body(numbers), stop.get_token());
  stop.request_stop();
  loop.run();
  CHECK(task_environment.failure() == errc::stopped);
}

TEST_CASE("when_any: the loser has ended before it returns") {
  manual::loop loop;
  manual::box fast(loop), slow(loop);
  slow.refuses_to_stop = true;
  bool returned = false;
  auto body = [](manual::box& a, manual::box& b, bool& flag) -> task<void> {
    auto first = co_await when_any(a.get(), b.get());
    flag = true;
    CHECK(first.index() == 0);
    CHECK(std::get<0>(first) == 1);
  };
  manual::spawned task_environment(loop, body(fast, slow, returned));
  fast.put(1);
  loop.run();
  CHECK(slow.cancels == 1);
  CHECK_FALSE(returned);
  slow.put(2);  // too late: it must not become the first
  loop.run();
  CHECK(returned);
  task_environment.get();
}

TEST_CASE("when_any: what can be stopped is stopped at once") {
  manual::loop loop;
  manual::box numbers(loop);
  auto body = [](manual::box& from) -> task<void> {
    auto first = co_await when_any(from.get(), sleep_for(5ms));
    CHECK(first.index() == 1);
  };
  manual::spawned task_environment(loop, body(numbers));
  loop.advance(5ms);
  task_environment.get();
  CHECK(numbers.waiting() == 0);
}

TEST_CASE("when_any: one that is ready when it starts wins, the later ones start stopped") {
  manual::loop loop;
  manual::box ready(loop), other(loop);
  ready.put(3);
  auto body = [](manual::box& a, manual::box& b) -> task<void> {
    auto first = co_await when_any(a.get(), b.get());
    CHECK(first.index() == 0);
    CHECK(std::get<0>(first) == 3);
  };
  manual::spawned task_environment(loop, body(ready, other));
  task_environment.get();
  CHECK(other.waiting() == 0);
}

TEST_CASE("when_any fails when nobody ended well, with the first failure") {
  manual::loop loop;
  manual::box a(loop), b(loop);
  auto body = [](manual::box& x, manual::box& y) -> task<void> {
    co_await when_any(x.get(), y.get());
  };
  manual::spawned task_environment(loop, body(a, b));
  b.fail(errc::peer_lost);
  loop.run();
  CHECK(a.waiting() == 0);
  CHECK(task_environment.failure() == errc::peer_lost);
}

TEST_CASE("when_any: a value that was too late to stop is worth more than a failure") {
  manual::loop loop;
  manual::box a(loop), b(loop);
  a.refuses_to_stop = true;
  auto body = [](manual::box& x, manual::box& y) -> task<void> {
    auto first = co_await when_any(x.get(), y.get());
    CHECK(first.index() == 0);
  };
  manual::spawned task_environment(loop, body(a, b));
  b.fail(errc::peer_lost);
  loop.run();
  a.put(1);
  loop.run();
  task_environment.get();
}

TEST_CASE("the combinators nest") {
  manual::loop loop;
  manual::box numbers(loop);
  auto body = [](manual::box& from) -> task<void> {
    auto [timed, raced] = co_await when_all(as_result(within(5ms, from.get())),
                                            when_any(from.get(), sleep_for(10ms)));
    CHECK(timed.code() == errc::timed_out);
    CHECK(raced.index() == 1);
  };
  manual::spawned task_environment(loop, body(numbers));
  loop.advance(5ms);
  loop.advance(5ms);
  task_environment.get();
  CHECK(loop.waiting_timers() == 0);
}
