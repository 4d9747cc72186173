// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <weft/coro/as_result.hpp>
#include <weft/coro/scope.hpp>

#include "manual.hpp"

using namespace weft;

namespace {

task<int> five() { co_return 5; }

task<std::unique_ptr<int>> boxed(std::unique_ptr<int> value) { co_return value; }

task<void> fails(errc how) {
  throw error(how, "as planned");
  co_return;
}

task<int> fails_otherwise() {
  throw std::runtime_error("not ours");
  co_return 0;
}

}  // namespace

TEST_CASE("a task starts when awaited and yields its value") {
  manual::loop loop;
  bool started = false;
  auto child = [](bool& flag) -> task<int> {
    flag = true;
    co_return 5;
  };
  auto parent = [](task<int> t, bool& flag, int& out) -> task<void> {
    CHECK_FALSE(flag);
    out = co_await std::move(t);
    CHECK(flag);
  };
  int out = 0;
  manual::spawned task_environment(loop, parent(child(started), started, out));
  task_environment.get();
  CHECK(out == 5);
}

TEST_CASE("values that can only be moved pass through tasks") {
  manual::loop loop;
  auto parent = [](int& out) -> task<void> {
    auto value = co_await boxed(std::make_unique<int>(9));
    out = *value;
  };
  int out = 0;
  manual::spawned(loop, parent(out)).get();
  CHECK(out == 9);
}

TEST_CASE("exceptions pass from a task to whoever awaits it") {
  manual::loop loop;
  auto parent = [](std::string& what) -> task<void> {
    try {
      co_await fails_otherwise();
    } catch (const std::runtime_error& e) {
      what = e.what();
    }
    co_await fails(errc::closed);
  };
  std::string what;
  manual::spawned task_environment(loop, parent(what));
  CHECK(what == "not ours");
  CHECK(task_environment.failure() == errc::closed);
}

TEST_CASE("a million ready tasks in a row do not grow the stack") {
  manual::loop loop;
  auto parent = [](long& sum) -> task<void> {
    for (int i = 0; i < 1'000'000; ++i) sum += co_await five();
  };
  long sum = 0;
  manual::spawned(loop, parent(sum)).get();
  CHECK(sum == 5'000'000);
}

TEST_CASE("a hundred thousand tasks that wait do not grow the stack") {
  manual::loop loop;
  manual::box numbers(loop);
  auto child = [](manual::box& from) -> task<int> { co_return co_await from.get(); };
  auto parent = [](auto get, manual::box& from, long& sum) -> task<void> {
    for (int i = 0; i < 100'000; ++i) {
      int n = co_await get(from);
      sum += n;
      if (n % 2 == 0) sum += co_await five();
    }
  };
  long sum = 0;
  manual::spawned task_environment(loop, parent(child, numbers, sum));
  // The next number comes during the completion of the last: only the library unwinds the stack in
  // between.
  for (int i = 0; i < 100'000; ++i) {
    numbers.put(i);
    loop.run();
  }
  task_environment.get();
  CHECK(sum == 99'999L * 50'000 + 250'000);
}

TEST_CASE("awaited_t names what comes out of a co_await") {
  STATIC_REQUIRE(std::is_same_v<awaited_t<task<int>>, int>);
  STATIC_REQUIRE(std::is_same_v<awaited_t<task<void>>, void>);
  STATIC_REQUIRE(std::is_same_v<awaited_t<manual::box::request>, int>);
  STATIC_REQUIRE(std::is_same_v<awaited_t<join_awaiter>, void>);
  STATIC_REQUIRE(std::is_same_v<decltype(as_result(five())), result_awaitable<task<int>>>);
  STATIC_REQUIRE(std::is_same_v<awaited_t<result_awaitable<manual::box::request>>, result<int>>);
  STATIC_REQUIRE_FALSE(detail::awaitable<int>);
}

TEST_CASE("as_result makes values of weft's failures and of nothing else") {
  manual::loop loop;
  manual::box numbers(loop);
  auto parent = [](manual::box& from, int& stage) -> task<void> {
    result<int> good = co_await as_result(from.get());
    CHECK(good.value() == 3);
    result<int> bad = co_await as_result(from.get());
    CHECK(bad.code() == errc::peer_lost);
    CHECK(std::string(bad.failure().what()).find("the box says so") != std::string::npos);
    result<int> ready = co_await as_result(five());
    CHECK(ready.value() == 5);
    result<void> task_failed = co_await as_result(fails(errc::refused));
    CHECK(task_failed.code() == errc::refused);
    scope fly;
    fly.start(fails(errc::truncated));
    result<void> joined = co_await as_result(fly.join());
    CHECK(joined.code() == errc::truncated);
    stage = 1;
    result<int> never = co_await as_result(fails_otherwise());
    stage = never ? 2 : 3;
  };
  int stage = 0;
  manual::spawned task_environment(loop, parent(numbers, stage));
  numbers.put(3);
  loop.run();
  numbers.fail(errc::peer_lost);
  loop.run();
  CHECK(stage == 1);
  CHECK_THROWS_AS(task_environment.get(), std::runtime_error);
}

TEST_CASE("a request obeys the stop token of its chain") {
  manual::loop loop;
  manual::box numbers(loop);
  auto get = [](manual::box& from) -> task<void> { co_await from.get(); };

  SECTION("while it waits") {
    std::stop_source stop;
    manual::spawned task_environment(loop, get(numbers), stop.get_token());
    CHECK(numbers.waiting() == 1);
    stop.request_stop();
    loop.run();
    CHECK(task_environment.failure() == errc::stopped);
    CHECK(numbers.waiting() == 0);
  }
  SECTION("before it starts") {
    std::stop_source stop;
    stop.request_stop();
    manual::spawned task_environment(loop, get(numbers), stop.get_token());
    CHECK(task_environment.failure() == errc::stopped);
  }
  SECTION("unless it was too late") {
    std::stop_source stop;
    manual::spawned task_environment(loop, get(numbers), stop.get_token());
    numbers.put(1);
    stop.request_stop();
    loop.run();
    CHECK(task_environment.failure() == errc::ok);
  }
}
