// SPDX-License-Identifier: Apache-2.0
// Scopes that several threads use: stops against completions, pools, two contexts.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <weft/coro/as_result.hpp>
#include <weft/coro/pool.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/time.hpp>
#include <weft/coro/when.hpp>

#include "manual.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

/// A second context, driven by another thread.
class other_context {
 public:
  manual::loop loop;
  manual::box box{loop};

  ~other_context() {
    loop.post(end_);
    thread_.join();
  }

 private:
  struct ender final : operation {
    ender() : operation([](operation& op) noexcept { static_cast<ender&>(op).now = true; }) {}
    std::atomic<bool> now{false};
  } end_;
  std::thread thread_{[this] { loop.run_until_done(end_.now); }};
};

/// Both threads of a race leave here together.
class starting_line {
 public:
  void ready() noexcept {
    ++there_;
    while (there_ < 2) std::this_thread::yield();
  }

 private:
  std::atomic<int> there_{0};
};

task<void> get_two(manual::box& from) {
  scope fly;
  fly.start(from.get());
  fly.start([](manual::box& b) -> task<void> { co_await b.get(); }(from));
  co_await fly.join();
}

}  // namespace

TEST_CASE("a stop that races completions ends everything exactly once") {
  int stopped = 0, finished = 0;
  for (int round = 0; round < 300; ++round) {
    manual::loop loop;
    manual::box numbers(loop);
    std::stop_source stop;
    starting_line line;
    manual::spawned task_environment(loop, get_two(numbers), stop.get_token());
    std::thread asker([&] {
      line.ready();
      stop.request_stop();
    });
    line.ready();
    numbers.put(1);
    numbers.put(2);
    task_environment.wait();
    asker.join();
    loop.run();
    const errc how = task_environment.failure();
    CHECK((how == errc::ok || how == errc::stopped));
    ++(how == errc::ok ? finished : stopped);
    CHECK(numbers.waiting() == 0);
  }
  INFO(stopped << " stopped, " << finished << " finished");
  CHECK(stopped + finished == 300);
}

TEST_CASE("a stop that races a plain request ends it exactly once") {
  for (int round = 0; round < 300; ++round) {
    manual::loop loop;
    manual::box numbers(loop);
    std::stop_source stop;
    starting_line line;
    auto body = [](manual::box& from) -> task<void> { co_await from.get(); };
    manual::spawned task_environment(loop, body(numbers), stop.get_token());
    std::thread asker([&] {
      line.ready();
      stop.request_stop();
    });
    line.ready();
    numbers.put(1);
    task_environment.wait();
    asker.join();
    const errc how = task_environment.failure();
    CHECK((how == errc::ok || how == errc::stopped));
  }
}

TEST_CASE("a deadline that races its operation ends both") {
  for (int round = 0; round < 300; ++round) {
    manual::loop loop;
    manual::box numbers(loop);
    starting_line line;
    auto body = [](manual::box& from) -> task<void> { co_await within(1ms, from.get()); };
    manual::spawned task_environment(loop, body(numbers));
    std::thread producer([&] {
      line.ready();
      numbers.put(1);
    });
    line.ready();
    loop.advance(1ms);
    task_environment.wait();
    producer.join();
    const errc how = task_environment.failure();
    CHECK((how == errc::ok || how == errc::timed_out));
    CHECK(loop.waiting_timers() == 0);
  }
}

TEST_CASE("requests of another context end on its thread and the scope still counts right") {
  manual::loop loop;
  manual::box here(loop);
  other_context other;
  std::atomic<int> sum{0};
  auto body = [](manual::box& a, manual::box& b, std::atomic<int>& out) -> task<void> {
    scope fly;
    for (int round = 0; round < 50; ++round) {
      for (int i = 0; i < 8; ++i) {
        fly.start(a.get(), [&out](int n) { out += n; });
        fly.start(b.get(), [&out](int n) { out += n; });
      }
      for (int i = 0; i < 8; ++i) {
        a.put(1);
        b.put(1);
      }
      co_await fly.join();
    }
  };
  manual::spawned task_environment(loop, body(here, other.box, sum));
  task_environment.wait();
  task_environment.get();
  CHECK(sum == 800);
}

TEST_CASE("a scope of a chain on a pool starts, stops and joins there") {
  manual::loop loop;
  manual::box numbers(loop);
  pool workers(2);
  std::atomic<int> sum{0};
  auto body = [](pool& p, manual::box& from, std::atomic<int>& out) -> task<void> {
    co_await resume_on(p);
    task_environment& here = co_await current_environment();
    scope fly{here};
    for (int round = 0; round < 50; ++round) {
      for (int i = 0; i < 8; ++i) fly.start(from.get(), [&out](int n) { out += n; });
      fly.start([](manual::box& b) -> task<void> { co_await b.get(); }(from));
      for (int i = 0; i < 9; ++i) from.put(1);
      co_await fly.join();
      CHECK(detail::run_loop::here() == nullptr);
    }
    for (int i = 0; i < 8; ++i) fly.start(from.get());
    fly.request_stop();
    co_await fly.join();
    co_await resume_home();
  };
  manual::spawned task_environment(loop, body(workers, numbers, sum));
  task_environment.wait();
  task_environment.get();
  CHECK(numbers.waiting() == 0);
}

TEST_CASE("a scope may see its chain move between start and join") {
  manual::loop loop;
  manual::box numbers(loop);
  pool workers(2);
  std::atomic<int> sum{0};
  auto body = [](pool& p, manual::box& from, std::atomic<int>& out) -> task<void> {
    for (int round = 0; round < 50; ++round) {
      scope fly;
      for (int i = 0; i < 4; ++i) fly.start(from.get(), [&out](int n) { out += n; });
      co_await resume_on(p);
      for (int i = 0; i < 4; ++i) fly.start(from.get(), [&out](int n) { out += n; });
      for (int i = 0; i < 8; ++i) from.put(1);
      if (round % 2) co_await resume_home();
      co_await fly.join();
      co_await resume_home();
    }
  };
  manual::spawned task_environment(loop, body(workers, numbers, sum));
  task_environment.wait();
  task_environment.get();
  CHECK(sum == 400);
}

TEST_CASE("a stop from a third thread reaches a scope whose chain is away from home") {
  for (int round = 0; round < 100; ++round) {
    manual::loop loop;
    manual::box numbers(loop);
    pool workers(2);
    std::stop_source stop;
    auto body = [](pool& p, manual::box& from, std::stop_token token) -> task<void> {
      scope fly{token};
      fly.start(from.get());
      fly.start([](manual::box& b) -> task<void> { co_await b.get(); }(from));
      co_await resume_on(p);
      fly.start(from.get());
      result<void> how = co_await as_result(fly.join());
      CHECK(how.code() == errc::stopped);
      co_await resume_home();
    };
    manual::spawned task_environment(loop, body(workers, numbers, stop.get_token()));
    std::thread asker([&] { stop.request_stop(); });
    task_environment.wait();
    asker.join();
    task_environment.get();
    CHECK(numbers.waiting() == 0);
  }
}

TEST_CASE("unwinding past a scope on a pool thread waits while the thread at home drives") {
  for (int round = 0; round < 50; ++round) {
    manual::loop loop;
    manual::box numbers(loop);
    pool workers(2);
    auto body = [](pool& p, manual::box& from) -> task<void> {
      auto unwinds = [](pool& where, manual::box& b) -> task<void> {
        scope fly;
        fly.start(b.get());
        co_await resume_on(where);
        fly.start(b.get());
        fly.start([](manual::box& x) -> task<void> { co_await x.get(); }(b));
        throw std::runtime_error("past the scope");
      };
      bool caught = false;
      try {
        co_await unwinds(p, from);
      } catch (const std::runtime_error&) {
        caught = true;
      }
      CHECK(caught);
      CHECK(from.waiting() == 0);
      co_await resume_home();
    };
    manual::spawned task_environment(loop, body(workers, numbers));
    task_environment.wait();
    task_environment.get();
  }
}

TEST_CASE("unwinding past a scope at home wakes up when the last task ends on a pool") {
  manual::loop loop;
  pool workers(1);
  auto body = [](manual::loop& l, pool& p) -> task<void> {
    auto ends_there = [](manual::loop& home, pool& where) -> task<void> {
      co_await resume_on(where);
      while (!home.asleep()) std::this_thread::yield();
    };
    scope fly;
    fly.start(ends_there(l, p));
    throw std::runtime_error("past the scope");
    co_return;
  };
  manual::spawned task_environment(loop, body(loop, workers));
  CHECK_THROWS_AS(task_environment.get(), std::runtime_error);
}

TEST_CASE("when_any between two contexts has one winner and no survivors") {
  manual::loop loop;
  manual::box here(loop);
  other_context other;
  auto body = [](manual::box& a, manual::box& b, int& wins) -> task<void> {
    for (int round = 0; round < 200; ++round) {
      auto first = co_await when_any(a.get(), b.get());
      CHECK((first.index() == 0 || first.index() == 1));
      ++wins;
    }
  };
  int wins = 0;
  manual::spawned task_environment(loop, body(here, other.box, wins));
  std::thread producer([&] {
    for (int i = 0; i < 400; ++i) (i % 2 ? here : other.box).put(i);
  });
  task_environment.wait();
  producer.join();
  task_environment.get();
  CHECK(wins == 200);
  CHECK(here.waiting() == 0);
  CHECK(other.box.waiting() == 0);
}
