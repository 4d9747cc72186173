// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <vector>

#include <weft/coro/as_result.hpp>
#include <weft/coro/mutex.hpp>
#include <weft/coro/semaphore.hpp>
#include <weft/coro/time.hpp>
#include <weft/coro/when.hpp>

#include "manual.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

task<void> take_one(semaphore& s, int who, std::vector<int>& order) {
  co_await s.acquire();
  order.push_back(who);
}

task<void> hold(mutex& m, manual::box& until, int who, std::vector<int>& order) {
  auto lock = co_await m.lock();
  order.push_back(who);
  co_await until.get();
}

}  // namespace

TEST_CASE("a semaphore lets as many pass as it has permits, in order") {
  manual::loop loop;
  semaphore s(2);
  std::vector<int> order;
  manual::spawned zero(loop, take_one(s, 0, order)), one(loop, take_one(s, 1, order));
  manual::spawned two(loop, take_one(s, 2, order)), three(loop, take_one(s, 3, order));
  loop.run();
  CHECK(order == std::vector<int>{0, 1});
  CHECK_FALSE(s.try_acquire());
  s.release();
  CHECK_FALSE(s.try_acquire());  // the permit was handed over: there is no overtaking
  loop.run();
  CHECK(order == std::vector<int>{0, 1, 2});
  s.release(3);
  loop.run();
  CHECK(order == std::vector<int>{0, 1, 2, 3});
  CHECK(s.try_acquire());
  CHECK(s.try_acquire());
  CHECK_FALSE(s.try_acquire());
}

TEST_CASE("a stopped acquire takes no permit") {
  manual::loop loop;
  semaphore s(0);
  std::vector<int> order;
  std::stop_source stop;
  manual::spawned stopped(loop, take_one(s, 0, order), stop.get_token());
  manual::spawned next(loop, take_one(s, 1, order));
  stop.request_stop();
  s.release();
  loop.run();
  CHECK(stopped.failure() == errc::stopped);
  CHECK(order == std::vector<int>{1});
  s.release();
  manual::spawned never(loop, take_one(s, 2, order), stop.get_token());
  loop.run();
  CHECK(never.failure() == errc::stopped);
  CHECK(s.try_acquire());
}

TEST_CASE("a permit that was handed over before the stop is kept") {
  manual::loop loop;
  semaphore s(0);
  std::vector<int> order;
  std::stop_source stop;
  manual::spawned one(loop, take_one(s, 0, order), stop.get_token());
  s.release();
  stop.request_stop();
  loop.run();
  CHECK(one.failure() == errc::ok);
  CHECK(order == std::vector<int>{0});
}

TEST_CASE("within ends an acquire") {
  manual::loop loop;
  semaphore s(0);
  auto body = [](semaphore& from) -> task<void> { co_await within(3ms, from.acquire()); };
  manual::spawned one(loop, body(s));
  loop.advance(3ms);
  CHECK(one.failure() == errc::timed_out);
  s.release();
  CHECK(s.try_acquire());
}

TEST_CASE("a semaphore that is destroyed ends its waits with errc::closed, and says why") {
  manual::loop loop;
  auto s = std::make_unique<semaphore>(0);
  std::vector<int> order;
  manual::spawned one(loop, take_one(*s, 0, order));
  s.reset();
  loop.run();
  CHECK(one.failure() == errc::closed);
  CHECK_THROWS_WITH(one.get(), weft::tests::contains("a semaphore was closed or destroyed"));
}

TEST_CASE("a mutex is held by one coroutine at a time, across co_await, first come first served") {
  manual::loop loop;
  manual::box release(loop);
  mutex m;
  std::vector<int> order;
  manual::spawned zero(loop, hold(m, release, 0, order));
  manual::spawned one(loop, hold(m, release, 1, order));
  manual::spawned two(loop, hold(m, release, 2, order));
  loop.run();
  CHECK(order == std::vector<int>{0});
  CHECK_FALSE(m.try_lock());
  release.put(0);
  loop.run();
  CHECK(order == std::vector<int>{0, 1});
  release.put(0);
  release.put(0);
  loop.run();
  CHECK(order == std::vector<int>{0, 1, 2});
  const mutex_lock mine = m.try_lock();
  CHECK(mine.owns_lock());
}

TEST_CASE("a mutex_lock moves, and unlocks once") {
  mutex m, other;
  mutex_lock a = m.try_lock();
  mutex_lock b = std::move(a);
  CHECK_FALSE(a);
  CHECK(b);
  CHECK_FALSE(m.try_lock());
  b = other.try_lock();  // unlocks the first one
  CHECK(m.try_lock());
  CHECK_FALSE(other.try_lock());
  b.unlock();
  b.unlock();
  CHECK(other.try_lock());
  CHECK(other.try_lock());
}

TEST_CASE("a mutex that came too late to be the first of when_any is unlocked again") {
  manual::loop loop;
  mutex m, other;
  mutex_lock first = m.try_lock(), second = other.try_lock();
  auto body = [](mutex& a, mutex& b) -> task<void> {
    auto got = co_await when_any(a.lock(), b.lock());
    CHECK(got.index() == 0);
  };
  manual::spawned one(loop, body(m, other));
  first.unlock();
  second.unlock();
  loop.run();
  one.get();
  CHECK(m.try_lock());
  CHECK(other.try_lock());
}

TEST_CASE("a stopped lock leaves the mutex to the next one") {
  manual::loop loop;
  manual::box release(loop);
  mutex m;
  std::vector<int> order;
  std::stop_source stop;
  mutex_lock mine = m.try_lock();
  manual::spawned stopped(loop, hold(m, release, 0, order), stop.get_token());
  manual::spawned next(loop, hold(m, release, 1, order));
  stop.request_stop();
  mine.unlock();
  loop.run();
  CHECK(stopped.failure() == errc::stopped);
  CHECK(order == std::vector<int>{1});
  release.put(0);
  loop.run();
  CHECK(next.ended());
}

TEST_CASE("a hundred thousand coroutines hand a mutex on without a deep stack") {
  manual::loop loop;
  mutex m;
  int passed = 0;
  auto one = [](mutex& of, int& count) -> task<void> {
    auto lock = co_await of.lock();
    ++count;
  };
  auto body = [](mutex& of, int& count, auto each) -> task<void> {
    scope fly;
    auto mine = co_await of.lock();
    for (int i = 0; i != 100'000; ++i) fly.start(each(of, count));
    mine.unlock();
    co_await fly.join();
  };
  manual::spawned all(loop, body(m, passed, one));
  loop.run();
  all.get();
  CHECK(passed == 100'000);
}
