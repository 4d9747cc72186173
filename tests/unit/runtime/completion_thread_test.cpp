// SPDX-License-Identifier: Apache-2.0
// Which thread hands ended operations to executors.
#include <algorithm>
#include <atomic>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

#include "chore.hpp"
#include "runtime/completion/completion_thread.hpp"
#include "runtime/progress/engine.hpp"
#include "support/catch.hpp"

using namespace weft;
using namespace weft::runtime;

namespace {

bool is_completer() {
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  return std::string(name) == "weft-completion";
}

/// Completes the posted work, and records the posting thread.
struct witness final : executor {
  void post(operation& work) noexcept override {
    by_completer = is_completer();
    work.complete();
  }
  std::atomic<bool> by_completer = false;
};

/// Whether an operation that ends on this thread is posted to its executor by another thread.
bool goes_by_completer(progress_mode mode) {
  witness there;
  std::atomic<bool> completed = false;
  chore work([&] { completed = true; });
  work.on = &there;
  engine e(mode, {}, "epoll");
  e.start();
  {
    const engine::holder hold(e);
    e.end_unposted(work, errc::ok);
  }
  while (!completed) std::this_thread::yield();
  return there.by_completer;
}

/// Ends an operation when it is read, and records the reading thread.
struct reports final : second_queue {
  reports(engine& e, operation& op) : in(e), what(op) {}
  void take_all() noexcept override {
    ++reads;
    by_completer = is_completer();
    in.end_unposted(what, errc::ok);
  }
  engine& in;
  operation& what;
  int reads = 0;
  std::atomic<bool> by_completer = false;
};

}  // namespace

TEST_CASE("engine: in mode two_threads another thread hands on what has ended") {
  CHECK(goes_by_completer(progress_mode::two_threads));
  CHECK_FALSE(goes_by_completer(progress_mode::dedicated));
  CHECK_FALSE(goes_by_completer(progress_mode::polling));
}

TEST_CASE("engine: what waits for the second thread at the end is handed on in order") {
  constexpr int count = 1000;
  witness there;
  std::vector<int> order;  // used by the second thread until that has ended
  std::deque<chore> all;
  {
    completion_thread second([] {});
    for (int i = 0; i < count; ++i) {
      chore& work = all.emplace_back([&order, i] { order.push_back(i); });
      work.on = &there;
      operation_list one;
      one.push(work);
      second.take(one);
    }
  }
  REQUIRE(order.size() == count);
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("engine: the second thread reads the second queue when it is rung, and ends operations") {
  witness there;
  std::atomic<bool> completed = false, other_completed = false;
  chore work([&] { completed = true; }), other([&] { other_completed = true; });
  work.on = other.on = &there;
  engine e(progress_mode::two_threads, {}, "epoll");
  reports queue(e, work);
  e.start();
  {
    const engine::holder hold(e);
    e.completion_thread()->serve(&queue);
    CHECK(e.completion_thread()->serves());
    e.completion_thread()->ring();
  }
  while (!completed) std::this_thread::yield();
  CHECK(queue.by_completer);
  CHECK(there.by_completer);
  // Operations that other threads end are not handed over any more.
  {
    const engine::holder hold(e);
    e.end_unposted(other, errc::ok);
  }
  CHECK(other_completed);
  CHECK_FALSE(there.by_completer);
  e.stop();
  const engine::holder hold(e);
  CHECK_FALSE(e.completion_thread()->serves());
  e.completion_thread()->ring();  // after the end it reads nothing
  CHECK(queue.reads == 1);
}

TEST_CASE("engine: a thread asleep inside run() is woken by an operation of the second queue") {
  std::atomic<bool> done = false;
  chore work([&] { done = true; });  // for the thread inside run()
  engine e(progress_mode::two_threads, {}, "epoll");
  reports queue(e, work);
  e.start();
  std::thread posts([&] {
    for (bool asleep = false; !asleep; std::this_thread::yield()) {
      const engine::holder hold(e);
      asleep = e.caller_sleeps_now();
    }
    const engine::holder hold(e);
    e.completion_thread()->serve(&queue);
    e.completion_thread()->ring();
  });
  e.run_until_done(done);
  posts.join();
  CHECK(queue.by_completer);
  e.stop();
}

TEST_CASE("engine: passes read the second queue in all other modes") {
  const progress_mode mode =
      GENERATE(progress_mode::dedicated, progress_mode::polling, progress_mode::interrupt);
  chore work([] {});
  engine e(mode, {}, "epoll");
  reports queue(e, work);
  const engine::holder hold(e);
  CHECK_FALSE(e.completion_thread());
}
