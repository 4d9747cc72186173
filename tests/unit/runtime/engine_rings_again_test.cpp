// SPDX-License-Identifier: Apache-2.0
// A frame that needs a reaction is rung for again, whichever thread has posted it: its peer may
// have gone to compute just after the ring.
#include <atomic>
#include <thread>

#include "chore.hpp"
#include "runtime/progress/engine.hpp"
#include "support/catch.hpp"

using namespace weft;
using namespace weft::runtime;
using namespace std::chrono_literals;

namespace {

/// A transport whose peers do not read.
class unread_frames final : public pollable {
 public:
  unsigned poll() noexcept override { return 0; }
  bool has_work() noexcept override { return false; }
  bool has_unconsumed() const noexcept override { return some; }
  void wake_peer() noexcept override { ++rung; }

  std::atomic<bool> some{false};
  std::atomic<unsigned> rung{0};
};

/// As a thread that is not inside run() does. \return whether peers are rung after that
bool rings_after_a_post(engine& e, unread_frames& frames) {
  unsigned before = 0;
  {
    const engine::holder hold(e);
    frames.some = true;
    before = frames.rung;
    e.await_reaction();
  }
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (frames.rung == before && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(1ms);
  return frames.rung != before;
}

progress_state state_of(engine& e) {
  const engine::holder hold(e);
  return e.state();
}

}  // namespace

TEST_CASE("engine: a frame that is posted while the caller sleeps is rung for again") {
  for (const auto mode : {progress_mode::interrupt, progress_mode::dedicated}) {
    engine e(mode, {.spin = 0ns}, "epoll");
    unread_frames frames;
    e.add(frames);
    e.start();
    std::atomic<bool> done{false};
    chore end([&] { done = true; });
    {
      const engine::holder hold(e);
      e.pending(end);
    }
    std::thread caller([&] { e.run_until_done(done); });
    while (state_of(e) != progress_state::asleep) std::this_thread::sleep_for(1ms);
    CHECK(rings_after_a_post(e, frames));
    frames.some = false;
    {
      const engine::holder hold(e);
      e.end(end);
    }
    caller.join();
    e.stop();
  }
}

TEST_CASE("engine: a frame that is posted while the application computes is rung for again") {
  engine e(progress_mode::dedicated, {.spin = 0ns}, "epoll");
  unread_frames frames;
  e.add(frames);
  e.start();
  chore outstanding([] {});
  {
    const engine::holder hold(e);
    e.pending(outstanding);
  }
  // Also while the progress thread sleeps: when that is so is not to be seen from here.
  for (int i = 0; i != 50; ++i) {
    CHECK(rings_after_a_post(e, frames));
    frames.some = false;
  }
  {
    const engine::holder hold(e);
    e.withdraw(outstanding);
  }
  e.stop();
}
