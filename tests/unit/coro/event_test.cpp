// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <optional>

#include <weft/coro/as_result.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/time.hpp>
#include <weft/coro/when.hpp>

#include "manual.hpp"
#include "support/allocations.hpp"
#include "support/skip.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

task<void> pass(event& e, int& passed) {
  co_await e.wait();
  ++passed;
}

/// A coroutine that weft did not start.
struct foreign {
  struct promise_type {
    foreign get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept {}
  };
};

foreign pass_outside(event& e, int& passed) {
  co_await e.wait();
  ++passed;
}

}  // namespace

TEST_CASE("an event lets all waiters pass, and later ones until it is reset") {
  manual::loop loop;
  event e;
  int passed = 0;
  manual::spawned one(loop, pass(e, passed)), two(loop, pass(e, passed));
  loop.run();
  CHECK(passed == 0);
  e.set();
  CHECK(passed == 0);  // set runs no other code
  loop.run();
  CHECK(passed == 2);
  CHECK(e.is_set());
  manual::spawned three(loop, pass(e, passed));
  CHECK(passed == 3);  // without a suspension
  e.reset();
  manual::spawned four(loop, pass(e, passed));
  loop.run();
  CHECK(passed == 3);
  e.set();
  e.reset();  // the wait that has ended stays ended
  loop.run();
  CHECK(passed == 4);
  for (const auto* each : {&one, &two, &three, &four}) each->get();
}

TEST_CASE("an event may be set from the beginning") {
  manual::loop loop;
  event e(true);
  int passed = 0;
  manual::spawned one(loop, pass(e, passed));
  CHECK(one.ended());
  CHECK(passed == 1);
}

TEST_CASE("a wait for an event ends with errc::stopped, before or after it has begun") {
  manual::loop loop;
  event e(true);
  int passed = 0;
  std::stop_source stop;
  stop.request_stop();
  manual::spawned before(loop, pass(e, passed), stop.get_token());
  CHECK(before.failure() == errc::stopped);
  e.reset();
  std::stop_source later;
  manual::spawned meanwhile(loop, pass(e, passed), later.get_token());
  manual::spawned other(loop, pass(e, passed));
  later.request_stop();
  loop.run();
  CHECK(meanwhile.failure() == errc::stopped);
  CHECK_FALSE(other.ended());
  e.set();
  loop.run();
  CHECK(other.failure() == errc::ok);
  CHECK(passed == 1);
}

TEST_CASE("a wait for an event works in within, as_result, scope and when_any") {
  manual::loop loop;
  event never, soon;
  auto body = [](event& n, event& s) -> task<void> {
    const result<void> late = co_await as_result(within(5ms, n.wait()));
    CHECK(late.code() == errc::timed_out);
    auto first = co_await when_any(n.wait(), s.wait());
    CHECK(first.index() == 1);
    scope fly;
    fly.start(n.wait());
    fly.start(s.wait());
    fly.request_stop();
    co_await fly.join();
  };
  manual::spawned all(loop, body(never, soon));
  loop.advance(5ms);
  CHECK_FALSE(all.ended());
  soon.set();
  loop.run();
  all.get();
}

TEST_CASE("an event that is destroyed ends its waits with errc::closed") {
  manual::loop loop;
  auto e = std::make_unique<event>();
  int passed = 0;
  manual::spawned one(loop, pass(*e, passed)), two(loop, pass(*e, passed));
  std::stop_source stop;
  manual::spawned three(loop, pass(*e, passed), stop.get_token());
  e.reset();
  stop.request_stop();  // too late, and it must not touch the event any more
  loop.run();
  CHECK(one.failure() == errc::closed);
  CHECK(two.failure() == errc::closed);
  CHECK(three.failure() == errc::closed);
  CHECK(passed == 0);
}

TEST_CASE("a coroutine may destroy the event that it has waited for") {
  manual::loop loop;
  event* place = nullptr;
  auto body = [](event*& where) -> task<void> {
    event local;
    where = &local;
    co_await local.wait();
  };
  manual::spawned one(loop, body(place));
  place->set();
  loop.run();
  one.get();
}

TEST_CASE("a coroutine of another library waits for an event, and resumes in the call") {
  event e;
  int passed = 0;
  pass_outside(e, passed);
  CHECK(passed == 0);
  e.set();
  CHECK(passed == 1);
}

TEST_CASE("to wait for an event allocates nothing") {
  if (!tests::counts_allocations()) return tests::skip("operator new is the sanitizer's");
  manual::loop loop;
  event ping, pong;
  auto body = [](event& a, event& b) -> task<void> {
    for (int i = 0; i != 10; ++i) {
      co_await a.wait();
      a.reset();
      b.set();
    }
  };
  std::stop_source stop;
  manual::spawned one(loop, body(ping, pong), stop.get_token());
  manual::spawned two(loop, body(pong, ping), stop.get_token());
  const auto before = tests::allocations();
  ping.set();
  loop.run();
  CHECK(tests::allocations() == before);
  CHECK(one.ended());
  CHECK(two.ended());
}
