// SPDX-License-Identifier: Apache-2.0
// A scope on the thread inside run(). scope_threads_test.cpp tests calls from other threads.
#include <chrono>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <weft/coro/as_result.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/time.hpp>

#include "manual.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

task<void> add(manual::box& from, int& sum) {
  for (int i = 0; i < 2; ++i) sum += co_await from.get();
}

task<void> throws_after(manual::box& from) {
  co_await from.get();
  throw std::runtime_error("not ours");
}

}  // namespace

TEST_CASE("a scope starts at once and its join waits for all") {
  manual::loop loop;
  manual::box numbers(loop), more(loop);
  int sum = 0;
  bool joined = false;
  auto body = [](manual::box& a, manual::box& b, int& out, bool& flag) -> task<void> {
    scope fly;
    fly.start(a.get());
    fly.start(a.get(), [&out](int n) { out += n; });
    fly.start(add(b, out));
    CHECK(a.waiting() == 2);
    CHECK(b.waiting() == 1);
    co_await fly.join();
    flag = true;
  };
  manual::spawned task_environment(loop, body(numbers, more, sum, joined));
  numbers.put(1);
  numbers.put(20);
  more.put(300);
  loop.run();
  CHECK_FALSE(joined);
  more.put(4000);
  loop.run();
  task_environment.get();
  CHECK(sum == 4320);
}

TEST_CASE("joining what has ended already, or nothing, does not suspend") {
  manual::loop loop;
  manual::box numbers(loop);
  numbers.put(1);
  auto body = [](manual::box& from) -> task<void> {
    scope fly;
    co_await fly.join();
    fly.start(from.get());
    fly.start([]() -> task<int> { co_return 1; }());
    co_await fly.join();
  };
  manual::spawned task_environment(loop, body(numbers));
  CHECK(task_environment.ended());
  CHECK(loop.run() == 0);
}

TEST_CASE("the first failure stops the rest and is thrown when all have ended") {
  manual::loop loop;
  manual::box numbers(loop), stubborn(loop);
  stubborn.refuses_to_stop = true;
  int sum = 0;
  auto body = [](manual::box& a, manual::box& b, int& out) -> task<void> {
    scope fly;
    fly.start(a.get());
    fly.start(add(a, out));
    fly.start(b.get());
    fly.start(sleep_for(1h));
    co_await fly.join();
  };
  manual::spawned task_environment(loop, body(numbers, stubborn, sum));
  CHECK(loop.waiting_timers() == 1);
  numbers.fail(errc::peer_lost);
  loop.run();
  CHECK(numbers.waiting() == 0);
  CHECK(loop.waiting_timers() == 0);
  CHECK(stubborn.cancels == 1);
  CHECK_FALSE(task_environment.ended());
  stubborn.fail(errc::closed);
  loop.run();
  CHECK(task_environment.failure() == errc::peer_lost);
}

TEST_CASE("a scope passes on exceptions that are not weft's, and those of the use of a value") {
  manual::loop loop;
  manual::box numbers(loop);
  auto tasks = [](manual::box& from) -> task<void> {
    scope fly;
    fly.start(throws_after(from));
    fly.start(from.get());
    co_await fly.join();
  };
  manual::spawned first(loop, tasks(numbers));
  numbers.put(0);
  loop.run();
  CHECK_THROWS_AS(first.get(), std::runtime_error);

  auto use = [](manual::box& from) -> task<void> {
    scope fly;
    fly.start(from.get(), [](int) { throw std::logic_error("no use"); });
    co_await fly.join();
  };
  manual::spawned second(loop, use(numbers));
  numbers.put(0);
  loop.run();
  CHECK_THROWS_AS(second.get(), std::logic_error);
}

TEST_CASE("a stop token ends everything in the scope") {
  manual::loop loop;
  manual::box numbers(loop);
  int sum = 0;
  std::stop_source stop;
  auto body = [](manual::box& from, std::stop_token token, int& out) -> task<void> {
    scope fly{token};
    fly.start(from.get());
    fly.start(add(from, out));
    co_await fly.join();
  };

  SECTION("while it is joined") {
    manual::spawned task_environment(loop, body(numbers, stop.get_token(), sum));
    stop.request_stop();
    loop.run();
    CHECK(task_environment.failure() == errc::stopped);
  }
  SECTION("before anything was started") {
    stop.request_stop();
    manual::spawned task_environment(loop, body(numbers, stop.get_token(), sum));
    loop.run();
    CHECK(task_environment.failure() == errc::stopped);
  }
  SECTION("the token of the joining chain does too") {
    manual::spawned task_environment(loop, body(numbers, {}, sum), stop.get_token());
    stop.request_stop();
    loop.run();
    CHECK(task_environment.failure() == errc::stopped);
  }
  CHECK(numbers.waiting() == 0);
}

TEST_CASE("request_stop is no failure, but other failures still are") {
  manual::loop loop;
  manual::box numbers(loop), stubborn(loop);
  stubborn.refuses_to_stop = true;
  auto body = [](manual::box& a, manual::box& b) -> task<void> {
    scope fly;
    int unused = 0;
    fly.start(a.get());
    fly.start(add(a, unused));
    CHECK(fly.request_stop());
    CHECK_FALSE(fly.request_stop());
    fly.start(a.get());
    fly.start(add(a, unused));
    co_await fly.join();
    fly.start(b.get());
    co_await fly.join();
  };
  manual::spawned task_environment(loop, body(numbers, stubborn));
  loop.run();
  CHECK_FALSE(task_environment.ended());
  stubborn.fail(errc::peer_lost);
  loop.run();
  CHECK(task_environment.failure() == errc::peer_lost);
}

TEST_CASE("a scope may be used again after a join") {
  manual::loop loop;
  manual::box numbers(loop);
  int sum = 0;
  auto body = [](manual::box& from, int& out) -> task<void> {
    scope fly;
    for (int round = 0; round < 3; ++round) {
      fly.start(from.get(), [&out](int n) { out += n; });
      fly.start(add(from, out));
      co_await fly.join();
    }
  };
  manual::spawned task_environment(loop, body(numbers, sum));
  for (int n = 0; n < 9; ++n) {
    numbers.put(1);
    loop.run();
  }
  task_environment.get();
  CHECK(sum == 9);
}

TEST_CASE("started tasks know the clock and start where a given chain is") {
  manual::loop loop;
  struct elsewhere final : executor {
    explicit elsewhere(manual::loop& l) : to(l) {}
    manual::loop& to;
    int posts = 0;
    void post(operation& work) noexcept override {
      ++posts;
      to.post(work);
    }
  } other(loop);
  auto body = [](elsewhere& where) -> task<void> {
    scope unaware;
    unaware.start(sleep_for(1ms));
    co_await unaware.join();
    task_environment& here = co_await current_environment();
    here.on = &where;
    scope aware{here};
    auto child = [](elsewhere& expected) -> task<void> {
      task_environment& own = co_await current_environment();
      CHECK(own.on == &expected);
      own.on = nullptr;  // its own affair
      co_await sleep_for(1ms);
    };
    aware.start(child(where));
    co_await aware.join();
    CHECK(here.on == &where);
  };
  manual::spawned task_environment(loop, body(other));
  loop.advance(1ms);
  CHECK(other.posts == 0);
  loop.advance(1ms);
  CHECK(other.posts == 1);  // the joiner resumed through it
  task_environment.get();
}

TEST_CASE("an exception that unwinds past a scope waits until its buffers are free") {
  manual::loop loop;
  manual::box numbers(loop), stubborn(loop);
  stubborn.refuses_to_stop = true;
  struct finisher final : operation {
    explicit finisher(manual::box& b)
        : operation([](operation& op) noexcept {
            auto& self = static_cast<finisher&>(op);
            self.ran = true;
            self.late.put(1);
          }),
          late(b) {}
    manual::box& late;
    bool ran = false;
  } finish(stubborn);
  int sum = 0;
  auto body = [](manual::loop& l, manual::box& a, manual::box& b, operation& later,
                 int& out) -> task<void> {
    scope fly;
    fly.start(a.get());
    fly.start(add(a, out));
    fly.start(b.get(), [&out](int n) { out += n; });
    l.post(later);
    throw std::runtime_error("past the scope");
    co_return;
  };
  manual::spawned task_environment(loop, body(loop, numbers, stubborn, finish, sum));
  CHECK(finish.ran);
  CHECK(numbers.waiting() == 0);
  CHECK(stubborn.cancels == 1);
  CHECK(sum == 1);
  CHECK_THROWS_AS(task_environment.get(), std::runtime_error);
}

TEST_CASE("a scope made outside of run() works when joined inside") {
  manual::loop loop;
  manual::box numbers(loop);
  int sum = 0;
  auto join = [](scope& fly) -> task<void> { co_await fly.join(); };
  scope fly;
  fly.start(numbers.get(), [&sum](int n) { sum += n; });
  fly.start(add(numbers, sum));
  manual::spawned task_environment(loop, join(fly));
  for (int i = 0; i < 3; ++i) numbers.put(1);
  loop.run();
  task_environment.get();
  CHECK(sum == 3);
}

TEST_CASE("a scope that nobody can end for ends the program with a message") {
  int out[2];
  REQUIRE(pipe(out) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(out[1], STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);
    manual::loop loop;
    manual::box numbers(loop);
    {
      scope lost;
      lost.start(numbers.get());
    }
    _exit(0);
  }
  close(out[1]);
  std::string message;
  char piece[256];
  for (ssize_t n; (n = read(out[0], piece, sizeof piece)) > 0;)
    message.append(piece, static_cast<std::size_t>(n));
  close(out[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(message.find("Join every scope") != std::string::npos);
}
