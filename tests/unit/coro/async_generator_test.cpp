// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/coro/as_result.hpp>
#include <weft/coro/async_generator.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/interval.hpp>
#include <weft/coro/pool.hpp>
#include <weft/coro/time.hpp>
#include <weft/coro/when.hpp>

#include "manual.hpp"
#include "this_thread.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

/// Sets a flag when it is destroyed.
struct cleanup {
  explicit cleanup(bool& f) noexcept : flag(&f) {}
  cleanup(const cleanup&) = delete;
  cleanup& operator=(const cleanup&) = delete;
  ~cleanup() { *flag = true; }
  bool* flag;
};

async_generator<int> counting(int below) {
  for (int i = 0; i != below; ++i) co_yield i;
}

async_generator<std::string> texts(manual::box& from, bool& cleaned) {
  const cleanup at_end(cleaned);
  for (;;) {
    const int n = co_await from.get();
    if (n == 0) co_return;
    if (n < 0) throw std::runtime_error("negative");
    std::string text = std::to_string(n);
    co_yield std::move(text);
  }
}

task<void> collect(manual::box& from, std::vector<std::string>& got, bool& cleaned) {
  async_generator<std::string> gen = texts(from, cleaned);
  while (std::string* text = co_await gen.next()) got.push_back(std::move(*text));
  CHECK(co_await gen.next() == nullptr);
}

}  // namespace

TEST_CASE("a generator yields its values and then the end") {
  manual::loop loop;
  manual::box numbers(loop);
  std::vector<std::string> got;
  bool cleaned = false;
  manual::spawned one(loop, collect(numbers, got, cleaned));
  CHECK(got.empty());
  numbers.put(1);
  loop.run();
  CHECK(got == std::vector<std::string>{"1"});
  numbers.put(2);
  numbers.put(3);
  loop.run();
  CHECK(got == std::vector<std::string>{"1", "2", "3"});
  CHECK_FALSE(cleaned);
  numbers.put(0);
  loop.run();
  one.get();
  CHECK(cleaned);
}

TEST_CASE("a generator passes on its exception, each time it is asked") {
  manual::loop loop;
  manual::box numbers(loop);
  bool cleaned = false;
  auto body = [](manual::box& from, bool& flag) -> task<int> {
    async_generator<std::string> gen = texts(from, flag);
    int thrown = 0;
    for (int i = 0; i != 3; ++i) {
      try {
        const std::string* text = co_await gen.next();
        CHECK(text != nullptr);
      } catch (const std::runtime_error&) {
        ++thrown;
      }
    }
    CHECK(thrown == 2);
    co_return thrown;
  };
  numbers.put(1);
  numbers.put(-1);
  manual::spawned one(loop, body(numbers, cleaned));
  loop.run();
  one.get();
  CHECK(cleaned);
}

TEST_CASE(
    "a generator that is destroyed early runs its destructors, and one that never ran does not") {
  manual::loop loop;
  manual::box numbers(loop);
  bool cleaned = false, untouched = false;
  auto body = [](manual::box& from, bool& flag, bool& none) -> task<void> {
    const async_generator<std::string> never = texts(from, none);
    {
      async_generator<std::string> gen = texts(from, flag);
      const std::string* text = co_await gen.next();
      CHECK(*text == "4");
    }
    CHECK(flag);
    async_generator<std::string> other = texts(from, none), moved = std::move(other);
    CHECK(co_await other.next() == nullptr);
  };
  numbers.put(4);
  manual::spawned one(loop, body(numbers, cleaned, untouched));
  loop.run();
  one.get();
  CHECK_FALSE(untouched);
}

TEST_CASE("a generator stops with its consumer's chain, and goes on for another") {
  manual::loop loop;
  manual::box numbers(loop);
  bool cleaned = false;
  auto body = [](manual::box& from, bool& flag) -> task<void> {
    async_generator<std::string> gen = texts(from, flag);
    // The same generator in two chains, one after the other.
    std::vector<std::string> got;
    scope fly;
    fly.start(gen.next(), [&got](std::string* text) { got.push_back(*text); });
    co_await fly.join();
    CHECK(got == std::vector<std::string>{"1"});
    const result<std::string*> late = co_await as_result(within(5ms, gen.next()));
    CHECK(late.code() == errc::timed_out);
    CHECK(flag);
  };
  manual::spawned one(loop, body(numbers, cleaned));
  numbers.put(1);
  loop.run();
  loop.advance(5ms);
  one.get();
  CHECK(numbers.waiting() == 0);
}

TEST_CASE("a million values at once need no deep stack") {
  manual::loop loop;
  auto body = []() -> task<void> {
    async_generator<int> gen = counting(1'000'000);
    long sum = 0;
    while (const int* n = co_await gen.next()) sum += *n;
    CHECK(sum == 499'999'500'000);
  };
  manual::spawned one(loop, body());
  one.get();
}

TEST_CASE("a generator of generators, and one with values that count their copies") {
  manual::loop loop;
  auto shared = std::make_shared<int>(7);
  auto twice = [](std::shared_ptr<int> value) -> async_generator<std::shared_ptr<int>> {
    co_yield value;  // a copy
    std::shared_ptr<int> again = value;
    co_yield std::move(again);
  };
  auto body = [](auto make, std::shared_ptr<int>& of) -> task<void> {
    async_generator<std::shared_ptr<int>> gen = make(of);
    int values = 0;
    while (std::shared_ptr<int>* v = co_await gen.next()) {
      ++values;
      CHECK(v->use_count() == 3);  // ours, the generator's parameter, the value
    }
    CHECK(values == 2);
    CHECK(of.use_count() == 2);  // until the generator is destroyed
  };
  {
    manual::spawned one(loop, body(twice, shared));
    one.get();
  }
  CHECK(shared.use_count() == 1);
}

TEST_CASE("a generator moves its consumer to a pool, as a task does") {
  manual::loop loop;
  pool workers(2);
  auto moving = [](pool& p) -> async_generator<int> {
    co_await resume_on(p);
    co_yield 1;
    co_await resume_home();
    co_yield 2;
  };
  std::vector<bool> away;
  auto body = [](auto make, pool& p, std::thread::id home, std::vector<bool>& out) -> task<void> {
    async_generator<int> gen = make(p);
    while (co_await gen.next() != nullptr) out.push_back(this_thread() != home);
  };
  manual::spawned one(loop, body(moving, workers, this_thread(), away));
  one.wait();
  one.get();
  CHECK(away == std::vector<bool>{true, false});
}

TEST_CASE("an interval keeps its rate, and skips what a busy consumer has missed") {
  manual::loop loop;
  const auto start = loop.now();
  std::vector<std::chrono::nanoseconds> seen;
  event go;
  auto body = [](std::vector<std::chrono::nanoseconds>& out, auto from, event& busy) -> task<void> {
    auto ticks = interval(10ms);
    while (const auto* at = co_await ticks.next()) {
      out.push_back(*at - from);
      if (out.size() == 2) co_await busy.wait();
      if (out.size() == 4) co_return;
    }
  };
  manual::spawned one(loop, body(seen, start, go));
  loop.advance(9ms);
  CHECK(seen.empty());
  loop.advance(4ms);   // at 13 ms: the first tick was late
  loop.advance(7ms);   // at 20 ms: the second one is not
  loop.advance(35ms);  // at 55 ms
  go.set();
  loop.run();
  CHECK(seen == std::vector<std::chrono::nanoseconds>{10ms, 20ms});
  loop.advance(4ms);
  CHECK(seen.size() == 2);
  loop.advance(1ms);
  loop.advance(10ms);
  CHECK(seen == std::vector<std::chrono::nanoseconds>{10ms, 20ms, 60ms, 70ms});
  one.get();
}

TEST_CASE("an interval needs a period, and may be longer than all time") {
  manual::loop loop;
  auto body = [](std::chrono::nanoseconds period) -> task<void> {
    auto ticks = interval(period);
    co_await ticks.next();
  };
  manual::spawned none(loop, body(0ms));
  CHECK(none.failure() == errc::invalid_argument);
  std::stop_source stop;
  manual::spawned never(loop, body(std::chrono::nanoseconds::max()), stop.get_token());
  loop.advance(1h);
  CHECK_FALSE(never.ended());
  stop.request_stop();
  loop.run();
  CHECK(never.failure() == errc::stopped);
}
