// SPDX-License-Identifier: Apache-2.0
// Which thread hands ended operations to executors.
#include <algorithm>
#include <atomic>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

#include <catch2/catch.hpp>

#include "chore.hpp"
#include "runtime/completion_thread.hpp"
#include "runtime/engine.hpp"

using namespace weft;
using namespace weft::runtime;

namespace {

/// Completes the posted work, and records the posting thread.
struct witness final : executor {
  void post(operation& work) noexcept override {
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    by_completer = std::string(name) == "weft-completion";
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
    completion_thread second;
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
