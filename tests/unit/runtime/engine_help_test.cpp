// SPDX-License-Identifier: Apache-2.0
// The work of other threads for a caller that computes or sleeps.
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "chore.hpp"
#include "runtime/descriptors/event_fd.hpp"
#include "runtime/progress/engine.hpp"
#include "support/catch.hpp"

using namespace weft;
using namespace weft::runtime;
using std::chrono::steady_clock;

namespace {

/// When it has ended the operation of the caller, work is left for which no operation waits. The
/// thread that constructs it is the caller.
class straggler final : public pollable {
 public:
  explicit straggler(engine& e) : engine_(e) { worth_watching = true; }
  unsigned poll() noexcept override {
    if (std::this_thread::get_id() != caller_) {
      if (std::exchange(busy, false)) finished = true;
    } else if (to_end && steady_clock::now() >= when) {
      busy = true;
      engine_.end(*std::exchange(to_end, nullptr));
    }
    return 0;
  }
  bool has_work() noexcept override { return to_end != nullptr; }
  int handle() const noexcept override { return never_.fd(); }
  void wake_peer() noexcept override {}

  operation* to_end = nullptr;
  steady_clock::time_point when{};
  std::atomic<bool> finished{false};

 private:
  engine& engine_;
  event_fd never_;
  const std::thread::id caller_ = std::this_thread::get_id();
};

/// Like sockets that a pass removes from the handles of a sleeping thread.
class forgetful final : public pollable {
 public:
  unsigned poll() noexcept override {
    armed = false;
    return 0;
  }
  bool has_work() noexcept override { return false; }
  void arm() noexcept override { armed = true; }
  void wake_peer() noexcept override {}

  bool armed = false;
};

}  // namespace

TEST_CASE("engine: what no operation waits for goes on, too, while the caller computes") {
  engine e(progress_mode::dedicated, {}, "epoll");
  straggler left(e);
  e.add(left);
  e.start();
  std::atomic<bool> done{false};
  bool meanwhile = false;
  chore computes([&] {
    const auto until = steady_clock::now() + std::chrono::seconds(20);
    while (!left.finished && steady_clock::now() < until) std::this_thread::yield();
    meanwhile = left.finished;
    done = true;
  });
  {
    const engine::holder hold(e);
    left.to_end = &computes;
    left.when = steady_clock::now() + std::chrono::milliseconds(20);  // the progress thread rests
    e.pending(computes);
  }
  e.run_until_done(done);
  CHECK(meanwhile);
  e.stop();
}

TEST_CASE("engine: what is watched once is watched on when calls drive it") {
  engine e(progress_mode::polling, {}, "epoll");
  event_fd happens;
  std::atomic<bool> told{false};
  e.watch_once(duplicate(happens.fd()), [&] {
    const engine::holder hold(e);  // a watch may take the progress lock
    told = true;
  });
  // Both are taken in one pass: when this one is reported, the other is in the wait set.
  event_fd happened;
  happened.ring();
  std::atomic<bool> taken_up{false};
  e.watch_once(duplicate(happened.fd()), [&] { taken_up = true; });
  std::atomic<bool> done{false};
  std::thread later([&] {
    while (!taken_up) std::this_thread::yield();
    chore last([&] { done = true; });
    e.post(last);
    while (!done) std::this_thread::yield();
  });
  e.run_until_done(done);
  later.join();
  e.external().begin();
  happens.ring();
  idle_backoff vain = e.external().backoff();
  const auto until = steady_clock::now() + std::chrono::seconds(20);
  while (!told && steady_clock::now() < until) {
    {
      const engine::holder hold(e);
      e.external().poll();
    }
    e.external().back_off(vain);
  }
  CHECK(told);
  e.external().end();
}

TEST_CASE("engine: a look beside a caller that sleeps leaves it armed") {
  engine e(progress_mode::polling, {}, "epoll");
  forgetful pollable;
  e.add(pollable);
  SECTION("by calls") {
    e.external().begin();
    REQUIRE(e.external().arm());
    REQUIRE(pollable.armed);
    std::thread([&] {
      const engine::holder hold(e);
      e.external().poll();
    }).join();
    CHECK(pollable.armed);
    e.external().end();
  }
  SECTION("inside run()") {
    engine sleeps(progress_mode::interrupt, {}, "epoll");
    sleeps.add(pollable);
    std::atomic<bool> done{false};
    chore last([&] { done = true; });
    std::thread caller([&] { sleeps.run_until_done(done); });
    const auto is_armed = [&] {
      const engine::holder hold(sleeps);
      return pollable.armed;
    };
    while (!is_armed()) std::this_thread::yield();
    sleeps.poll_once();
    CHECK(is_armed());
    sleeps.post(last);
    caller.join();
  }
}
