// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include <weft/coro/as_result.hpp>
#include <weft/coro/pool.hpp>
#include <weft/coro/scope.hpp>

#include "manual.hpp"
#include "this_thread.hpp"

using namespace weft;

TEST_CASE("resume_on moves a chain to the pool and resume_home back") {
  manual::loop loop;
  pool workers(2);
  const auto home = this_thread();
  auto body = [](pool& p, std::thread::id start) -> task<void> {
    task_environment& here = co_await current_environment();
    co_await resume_on(p);
    CHECK(this_thread() != start);
    CHECK(here.on == &p);
    co_await resume_home();
    CHECK(this_thread() == start);
    CHECK(here.on == nullptr);
    co_await resume_home();
    CHECK(this_thread() == start);
  };
  manual::spawned task_environment(loop, body(workers, home));
  task_environment.wait();
  task_environment.get();
}

TEST_CASE("a home executor given to resume_on leads home") {
  manual::loop loop;
  pool workers(2);
  auto body = [](manual::loop& l, pool& p) -> task<void> {
    co_await resume_on(p);
    co_await resume_on(l);
    task_environment& here = co_await current_environment();
    CHECK(here.on == nullptr);
    CHECK(detail::run_loop::here() == &l);
  };
  manual::spawned task_environment(loop, body(loop, workers));
  task_environment.wait();
  task_environment.get();
}

TEST_CASE("a task moved by its child stays moved") {
  manual::loop loop;
  pool workers(2);
  auto child = [](pool& p) -> task<void> { co_await resume_on(p); };
  auto body = [](auto moves, pool& p, std::thread::id start) -> task<void> {
    co_await moves(p);
    CHECK(this_thread() != start);
  };
  manual::spawned task_environment(loop, body(child, workers, this_thread()));
  task_environment.wait();
  task_environment.get();
}

TEST_CASE("what a chain on the pool awaits ends at home and resumes on the pool") {
  manual::loop loop;
  manual::box numbers(loop);
  pool workers(2);
  auto body = [](pool& p, manual::box& from, std::thread::id start) -> task<void> {
    co_await resume_on(p);
    for (int i = 0; i < 100; ++i) {
      int n = co_await from.get();
      CHECK(n == i);
      CHECK(this_thread() != start);
    }
    co_await resume_home();
  };
  manual::spawned task_environment(loop, body(workers, numbers, this_thread()));
  for (int i = 0; i < 100; ++i) numbers.put(i);
  task_environment.wait();
  task_environment.get();
}

TEST_CASE("a pool runs as many at once as it was asked for") {
  manual::loop loop;
  pool workers(3);
  CHECK(workers.threads() == 3);
  std::latch together(3);  // opens only if three are there at the same time
  auto body = [](pool& p, std::latch& l) -> task<void> {
    auto meet = [](pool& where, std::latch& at) -> task<void> {
      co_await resume_on(where);
      at.arrive_and_wait();
    };
    scope fly;
    for (int i = 0; i < 3; ++i) fly.start(meet(p, l));
    co_await fly.join();
    CHECK(detail::run_loop::here() != nullptr);
  };
  manual::spawned task_environment(loop, body(workers, together));
  task_environment.wait();
  task_environment.get();
}

TEST_CASE("a pool completes everything that was posted before it goes") {
  struct work final : operation {
    explicit work(std::atomic<int>& n)
        : operation([](operation& op) noexcept { ++static_cast<work&>(op).count; }), count(n) {}
    std::atomic<int>& count;
  };
  std::atomic<int> count{0};
  std::vector<std::unique_ptr<work>> all;
  for (int i = 0; i < 10'000; ++i) all.push_back(std::make_unique<work>(count));
  {
    pool workers(2);
    for (auto& one : all) workers.post(*one);
  }
  CHECK(count == 10'000);
}

TEST_CASE("a pool refuses a negative number of threads and has a default") {
  CHECK_THROWS_AS(pool(-1), error);
  CHECK(pool().threads() >= 1);
}

TEST_CASE("a chain without a home is told so") {
  struct owner final : detail::detached_task_owner {
    std::exception_ptr failure;
    void task_ended(std::exception_ptr f) noexcept override { failure = std::move(f); }
  } root;
  auto body = []() -> task<void> { co_await resume_home(); };
  detail::start_detached(root, task_environment{}, body(), [] {});
  REQUIRE(root.failure);
  CHECK_THROWS_AS(std::rethrow_exception(root.failure), error);
}
