// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <weft/coro/event.hpp>
#include <weft/coro/time.hpp>
#include <weft/coro/when.hpp>

#include "manual.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

task<std::unique_ptr<int>> boxed_later(manual::box& from) {
  const int n = co_await from.get();
  co_return std::make_unique<int>(n);
}

task<void> wait_and_count(event& e, int& passed) {
  co_await e.wait();
  ++passed;
}

}  // namespace

TEST_CASE("when_all over a vector of tasks yields the values in its order") {
  manual::loop loop;
  manual::box a(loop), b(loop), c(loop);
  auto body = [](manual::box& x, manual::box& y, manual::box& z) -> task<void> {
    std::vector<task<std::unique_ptr<int>>> all;
    for (manual::box* each : {&x, &y, &z}) all.push_back(boxed_later(*each));
    const std::vector<std::unique_ptr<int>> values = co_await when_all(std::move(all));
    REQUIRE(values.size() == 3);
    CHECK(*values[0] == 1);
    CHECK(*values[1] == 2);
    CHECK(*values[2] == 3);
  };
  manual::spawned one(loop, body(a, b, c));
  c.put(3);
  a.put(1);
  loop.run();
  CHECK_FALSE(one.ended());
  b.put(2);
  loop.run();
  one.get();
}

TEST_CASE("when_all over a vector takes requests, waits, and bool") {
  manual::loop loop;
  manual::box numbers(loop);
  event e;
  auto body = [](manual::box& from, event& gate) -> task<void> {
    std::vector<manual::box::request> gets(4, from.get());
    const std::vector<int> values = co_await when_all(std::move(gets));
    CHECK(values == std::vector<int>{1, 2, 3, 4});

    std::vector<decltype(gate.wait())> waits(5, gate.wait());
    co_await when_all(std::move(waits));

    std::vector<task<bool>> flags;
    for (int i = 0; i != 3; ++i)
      flags.push_back([](bool odd) -> task<bool> { co_return odd; }(i % 2 == 1));
    const std::vector<bool> odd = co_await when_all(std::move(flags));
    CHECK(odd == std::vector<bool>{false, true, false});
  };
  STATIC_REQUIRE(std::is_void_v<awaited_t<decltype(when_all(std::vector<task<void>>()))>>);
  manual::spawned one(loop, body(numbers, e));
  for (int i = 1; i != 5; ++i) numbers.put(i);
  loop.run();
  CHECK_FALSE(one.ended());
  e.set();
  loop.run();
  one.get();
}

TEST_CASE("when_all of an empty vector ends at once") {
  manual::loop loop;
  auto body = []() -> task<void> {
    const std::vector<int> none = co_await when_all(std::vector<task<int>>());
    CHECK(none.empty());
    co_await when_all(std::vector<task<void>>());
  };
  manual::spawned one(loop, body());
  one.get();
}

TEST_CASE("when_all over a vector: the first failure stops the rest") {
  manual::loop loop;
  event never;
  int passed = 0;
  auto body = [](event& e, int& count) -> task<void> {
    std::vector<task<void>> all;
    for (int i = 0; i != 3; ++i) all.push_back(wait_and_count(e, count));
    all.push_back([]() -> task<void> {
      throw std::runtime_error("not ours");
      co_return;
    }());
    for (int i = 0; i != 3; ++i) all.push_back(wait_and_count(e, count));
    co_await when_all(std::move(all));
  };
  manual::spawned one(loop, body(never, passed));
  loop.run();
  CHECK_THROWS_AS(one.get(), std::runtime_error);
  CHECK(passed == 0);
}

TEST_CASE("when_any over a vector yields the position and the value of the first") {
  manual::loop loop;
  manual::box a(loop), b(loop), c(loop);
  auto body = [](manual::box& x, manual::box& y, manual::box& z) -> task<void> {
    std::vector<task<std::unique_ptr<int>>> all;
    for (manual::box* each : {&x, &y, &z}) all.push_back(boxed_later(*each));
    const when_any_result<std::unique_ptr<int>> first = co_await when_any(std::move(all));
    CHECK(first.index == 1);
    CHECK(*first.value == 5);
  };
  manual::spawned one(loop, body(a, b, c));
  b.put(5);
  loop.run();
  one.get();
  CHECK(a.waiting() == 0);
  CHECK(c.waiting() == 0);
}

TEST_CASE("when_any over a vector of void tasks yields the position") {
  manual::loop loop;
  auto body = []() -> task<void> {
    std::vector<task<void>> all;
    for (const auto pause : {3ms, 1ms, 2ms}) all.push_back(sleep_for(pause));
    auto first = co_await when_any(std::move(all));
    CHECK(first.index == 1);
  };
  manual::spawned one(loop, body());
  loop.advance(1ms);
  one.get();
  CHECK(loop.waiting_timers() == 0);
}

TEST_CASE("when_any of an empty vector is an error, and of failures the first of them") {
  manual::loop loop;
  auto empty = []() -> task<void> { co_await when_any(std::vector<task<int>>()); };
  manual::spawned one(loop, empty());
  CHECK(one.failure() == errc::invalid_argument);

  manual::box a(loop), b(loop);
  auto body = [](manual::box& x, manual::box& y) -> task<void> {
    std::vector<manual::box::request> all;
    all.push_back(x.get());
    all.push_back(y.get());
    co_await when_any(std::move(all));
  };
  manual::spawned two(loop, body(a, b));
  b.fail(errc::peer_lost);
  loop.run();
  CHECK(two.failure() == errc::peer_lost);
  CHECK(a.waiting() == 0);
}
