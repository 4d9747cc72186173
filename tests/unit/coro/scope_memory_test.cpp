// SPDX-License-Identifier: Apache-2.0
// The allocations of a scope, and its behaviour without memory.
#include <new>

#include <weft/coro/scope.hpp>

#include "manual.hpp"
#include "support/allocations.hpp"
#include "support/skip.hpp"

using namespace weft;

TEST_CASE("in steady state starting allocates nothing") {
  if (!tests::counts_allocations()) return tests::skip("operator new is the sanitizer's");
  manual::loop loop;
  manual::box ready(loop), pending(loop);
  std::size_t first = 0, later = 0;
  auto body = [](manual::box& a, manual::box& b, std::size_t& warm,
                 std::size_t& steady) -> task<void> {
    scope fly;
    for (int round = 0; round < 100; ++round) {
      const std::size_t before = tests::allocations();
      for (int i = 0; i < 64; ++i) fly.start(b.get());
      std::size_t more = tests::allocations() - before;
      for (int i = 0; i < 64; ++i) {
        a.put(i);
        b.put(i);
      }
      const std::size_t between = tests::allocations();
      for (int i = 0; i < 64; ++i) fly.start(a.get());
      more += tests::allocations() - between;
      const std::size_t at_join = tests::allocations();
      co_await fly.join();
      more += tests::allocations() - at_join;
      (round == 0 ? warm : steady) += more;
    }
  };
  manual::spawned task_environment(loop, body(ready, pending, first, later));
  while (!task_environment.ended()) loop.run();
  task_environment.get();
  CHECK(first > 0);
  CHECK(later == 0);
}

TEST_CASE("very many in flight cost a few allocations, once") {
  if (!tests::counts_allocations()) return tests::skip("operator new is the sanitizer's");
  manual::loop loop;
  manual::box numbers(loop);
  constexpr int many = 200'000;
  std::size_t first = 0, second = 0;
  long sum = 0;
  auto body = [](manual::loop& l, manual::box& from, std::size_t& growing, std::size_t& steady,
                 long& out) -> task<void> {
    scope fly;
    for (std::size_t* count : {&growing, &steady}) {
      const std::size_t before = tests::allocations();
      for (int i = 0; i < many; ++i) fly.start(from.get(), [&out](int n) { out += n; });
      for (int i = 0; i < many; ++i) from.put(1);
      l.run();
      co_await fly.join();
      *count = tests::allocations() - before;
    }
  };
  manual::spawned task_environment(loop, body(loop, numbers, first, second, sum));
  task_environment.get();
  CHECK(sum == 2L * many);
  CHECK(first < 100);
  CHECK(second == 0);
}

TEST_CASE("without memory start throws and the scope stays whole") {
  if (!tests::counts_allocations()) return tests::skip("operator new is the sanitizer's");
  manual::loop loop;
  manual::box numbers(loop);
  auto body = [](manual::box& from) -> task<void> {
    scope fly;
    int started = 0;
    {
      tests::no_memory none;
      try {
        for (;;) {
          fly.start(from.get());
          ++started;
        }
      } catch (const std::bad_alloc&) {
      }
      CHECK_THROWS_AS(fly.start([]() -> task<void> { co_return; }()), std::bad_alloc);
    }
    CHECK(started > 0);  // the first few live in the scope itself
    CHECK(from.waiting() == static_cast<std::size_t>(started));
    fly.request_stop();
    co_await fly.join();
  };
  manual::spawned task_environment(loop, body(numbers));
  loop.run();
  CHECK(task_environment.failure() == errc::ok);
}
