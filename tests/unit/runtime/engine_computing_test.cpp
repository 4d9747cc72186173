// SPDX-License-Identifier: Apache-2.0
// What peers see of an engine while its caller computes: the word `computing` of its doorbell.
#include <atomic>
#include <deque>
#include <thread>

#include "chore.hpp"
#include "runtime/progress/engine.hpp"
#include "support/catch.hpp"

using namespace weft;
using namespace weft::runtime;

TEST_CASE("engine: a peer can ring whoever computes with something outstanding") {
  engine e(progress_mode::dedicated, {.spin = std::chrono::nanoseconds(0)}, "epoll");
  e.start();
  doorbell& own_bell = e.own_doorbell();
  const unique_fd handed_over = duplicate(own_bell.page_fd());
  remote_doorbell peer(handed_over, own_bell.to_peers());
  const mapping seen = map_from_peer(handed_over, 4096, false);
  const auto& page = *static_cast<const doorbell_page*>(seen.get());

  std::atomic<bool> done{false};
  bool rang = false;
  chore second([&] { done = true; });
  chore first([&] {
    // Nothing is outstanding. Now the application posts something, and computes.
    {
      const engine::holder hold(e);
      e.pending(second);
    }
    rang = peer.ring_if_computing();
    const engine::holder hold(e);
    e.end(second);
  });
  std::thread caller([&] { e.run_until_done(done); });
  while (page.asleep.load() % 2 == 0) std::this_thread::yield();

  // Another thread posts while the caller sleeps, and a peer sends a frame that needs a reaction.
  {
    const engine::holder hold(e);
    e.pending(first);
  }
  peer.ring_if_asleep();
  peer.ring_if_computing();
  {
    const engine::holder hold(e);
    e.end(first);
  }
  caller.join();
  CHECK(rang);
}

TEST_CASE("engine: a second operation of a computing phase can be rung for, too") {
  engine e(progress_mode::dedicated, {.spin = std::chrono::nanoseconds(0)}, "epoll");
  e.start();
  remote_doorbell peer(duplicate(e.own_doorbell().page_fd()), e.own_doorbell().to_peers());
  const auto wakes = [&](auto ring) {
    const std::uint64_t before = e.counters().sleeps;
    const bool rang = ring();
    while (rang && e.counters().sleeps == before) std::this_thread::yield();
    return rang;
  };
  const auto peer_rings = [&] { return peer.ring_if_computing(); };

  // No thread is inside run(): the application computes. It posts an operation, which ends.
  // The same again, where the progress thread has only begun and found nothing outstanding.
  std::deque<chore> first;
  do {
    const engine::holder hold(e);
    first.emplace_back([] {});
    e.pending(first.back());
    e.end(first.back());
  } while (!wakes(peer_rings));
  // A needless wake-up; after one more the progress thread has found that out.
  wakes([&] {
    e.own_doorbell().progress_bell().ring();
    return true;
  });
  chore second([] {});
  {
    const engine::holder hold(e);
    e.pending(second);
  }
  // While the progress thread is still awake it polls for itself, and is not rung.
  const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  bool rang = false;
  while (!rang && std::chrono::steady_clock::now() < late) rang = wakes(peer_rings);
  CHECK(rang);
  const engine::holder hold(e);
  e.end(second);
}

TEST_CASE("engine: a peer rings for no caller that copies in a call, and once more after it") {
  engine e(progress_mode::dedicated, {}, "epoll");
  remote_doorbell peer(duplicate(e.own_doorbell().page_fd()), e.own_doorbell().to_peers());
  chore outstanding([] {});
  {
    const engine::holder hold(e);
    e.pending(outstanding);  // no thread is inside run(): the application computes
  }
  CHECK(peer.ring_if_computing());
  CHECK_FALSE(peer.ring_if_computing());
  {
    const engine::holder hold(e);
    const engine::long_step copying(e);
    CHECK_FALSE(peer.computing());
    CHECK_FALSE(peer.ring_if_computing());
  }
  CHECK(peer.ring_if_computing());
  const engine::holder hold(e);
  e.end(outstanding);
}

TEST_CASE("engine: a caller that does not compute does not after a copy either") {
  engine e(progress_mode::dedicated, {}, "epoll");
  const remote_doorbell peer(duplicate(e.own_doorbell().page_fd()), e.own_doorbell().to_peers());
  const engine::holder hold(e);
  { const engine::long_step copying(e); }
  CHECK_FALSE(peer.computing());
}

TEST_CASE("doorbell: peers see whether an external loop goes on where an operation has ended") {
  for (const auto mode : {progress_mode::dedicated, progress_mode::polling}) {
    engine e(mode, {}, "epoll");
    const remote_doorbell peer(duplicate(e.own_doorbell().page_fd()), e.own_doorbell().to_peers());
    CHECK_FALSE(peer.acts_on_ends());
    e.external().begin();
    CHECK(peer.acts_on_ends() == (mode == progress_mode::dedicated));
    e.external().end();
    CHECK_FALSE(peer.acts_on_ends());
  }
}
