// SPDX-License-Identifier: Apache-2.0
// Background work: any thread that makes progress completes it.
#include <atomic>
#include <thread>

#include "chore.hpp"
#include "runtime/progress/engine.hpp"
#include "support/catch.hpp"

using namespace weft;
using namespace weft::runtime;

namespace {

constexpr wait_strategy::settings sleeps_at_once{.spin = std::chrono::nanoseconds(0)};

/// A chore that says on which thread it ran.
struct background_chore {
  std::atomic<bool> done{false};
  std::thread::id where;
  chore work{[this] {
    where = std::this_thread::get_id();
    done = true;
  }};
  void await() const {
    while (!done) std::this_thread::yield();
  }
};

}  // namespace

TEST_CASE("background: the progress thread runs work while no thread is inside run()") {
  engine e(progress_mode::dedicated, sleeps_at_once, "epoll");
  e.start();
  for (int i = 0; i != 100; ++i) {
    background_chore posted;
    e.background().post(posted.work);
    posted.await();
    CHECK(posted.where != std::this_thread::get_id());
  }
}

TEST_CASE("background: an operation that ends while the caller computes runs at once") {
  engine e(progress_mode::dedicated, sleeps_at_once, "epoll");
  e.start();
  std::atomic<bool> over{false};
  background_chore ended;
  ended.work.on = &e.background();
  chore computes([&] {
    {
      const engine::holder hold(e);
      e.pending(ended.work);
    }
    std::thread other([&] {
      const engine::holder hold(e);
      e.end(ended.work);
    });
    other.join();
    ended.await();  // this thread is inside run(), and does not come back before
    over = true;
  });
  e.post(computes);
  e.run_until_done(over);
  CHECK(ended.where != std::this_thread::get_id());
}

TEST_CASE("background: the caller runs work while it waits") {
  const auto mode = GENERATE(progress_mode::dedicated, progress_mode::polling,
                             progress_mode::interrupt, progress_mode::two_threads);
  engine e(mode, sleeps_at_once, "epoll");
  e.start();
  std::atomic<bool> inside{false};
  background_chore posted;
  chore enters([&] { inside = true; });
  e.post(enters);
  std::thread::id caller_id;
  std::thread caller([&] {
    caller_id = std::this_thread::get_id();
    e.run_until_done(posted.done);
  });
  while (!inside) std::this_thread::yield();
  // It polls or sleeps now, or will before it looks at anything else.
  for (bool away = true; away;) {
    const engine::holder hold(e);
    const progress_state is = e.state();
    away = is != progress_state::polling && is != progress_state::asleep;
    if (!away) {
      posted.work.on = &e.background();
      e.end_unposted(posted.work, errc::ok);
    }
  }
  caller.join();
  CHECK(posted.where == caller_id);
}
