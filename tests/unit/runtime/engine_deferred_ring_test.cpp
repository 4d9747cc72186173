// SPDX-License-Identifier: Apache-2.0
// Rings that wait until the caller polls: none of them is lost if it does not.
#include <atomic>
#include <deque>
#include <functional>
#include <thread>

#include "chore.hpp"
#include "runtime/progress/engine.hpp"
#include "support/catch.hpp"

using namespace weft;
using namespace weft::runtime;
using namespace std::chrono_literals;

namespace {

/// Counts how often peers are rung.
class bells final : public pollable {
 public:
  unsigned poll() noexcept override { return 0; }
  bool has_work() noexcept override { return false; }
  void wake_peer() noexcept override { ++rung; }

  std::atomic<unsigned> rung{0};
};

/// A thread inside run() posts a frame again and again, until its ring is deferred; then `then` is
/// called, still in user code, with an operation outstanding. \return how often peers had been rung
/// when the ring was deferred
template <class Then>
unsigned defer_a_ring(engine& e, bells& peers, Then then) {
  std::atomic<bool> done{false};
  chore outstanding([] {});
  std::deque<chore> posts;
  unsigned before = 0;
  const std::function<void()> post = [&] {
    bool deferred = false;
    {
      const engine::holder hold(e);
      e.pending(outstanding);
      before = peers.rung;
      deferred = e.rings_soon();
      if (!deferred) {
        e.rang_at_once();
        e.withdraw(outstanding);
        e.pending(posts.emplace_back(post));
        e.end(posts.back());
      }
    }
    // A needless wake-up of the progress thread, as by a peer that takes this thread for computing.
    if (!deferred) return e.own_doorbell().progress_bell().ring();
    then(before);
    done = true;
  };
  {
    const engine::holder hold(e);
    e.pending(posts.emplace_back(post));
    e.end(posts.back());
  }
  e.run_until_done(done);
  const engine::holder hold(e);
  e.withdraw(outstanding);
  return before;
}

}  // namespace

TEST_CASE(
    "engine: a ring that waits for the caller comes from the progress thread if it computes") {
  engine e(progress_mode::dedicated, {.spin = 1h}, "epoll");
  bells peers;
  e.add(peers);
  e.start();
  defer_a_ring(e, peers, [&](unsigned before) {
    while (peers.rung == before) std::this_thread::yield();  // the caller computes
  });
  e.stop();
  CHECK(peers.rung != 0);
}

TEST_CASE("engine: a ring that waits for the caller comes when it leaves run()") {
  engine e(progress_mode::dedicated, {.spin = 1h}, "epoll");
  bells peers;
  e.add(peers);
  e.start();
  const unsigned before = defer_a_ring(e, peers, [](unsigned) {});
  CHECK(peers.rung != before);
  e.stop();
}

TEST_CASE("engine: no ring waits where no thread would make up for it") {
  for (const auto mode : {progress_mode::polling, progress_mode::dedicated}) {
    engine e(mode, {.spin = 1h}, "epoll");
    const engine::holder hold(e);
    CHECK_FALSE(e.rings_soon());
  }
}
