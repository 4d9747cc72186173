// SPDX-License-Identifier: Apache-2.0
// Sleeping and waking, over and over: a lost wake-up hangs the test until its time is over.
// Messages have a second safeguard (a process that sleeps with unseen messages polls again), so the
// doorbell is also tested without it.
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include <weft/weft.hpp>

#include "runtime/os/membarrier.hpp"
#include "runtime/sleep/doorbell.hpp"
#include "support/catch.hpp"

using namespace weft;

namespace {

constexpr tag ball{1};
constexpr std::uint32_t the_end = ~0u;

options sleeping(progress_mode mode) {
  options o;
  o.progress = mode;
  o.spin = std::chrono::microseconds(0);
  return o;
}

std::string listening(const char* side) {
  return "unix://weft-hand-over-" + std::to_string(::getpid()) + side;
}

/// Runs one part in another process and the other part here.
void in_two_processes(const std::function<void()>& there, const std::function<void()>& here) {
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 0;
    try {
      there();
    } catch (...) {
      status = 1;
    }
    ::_exit(status);
  }
  REQUIRE(child > 0);
  here();
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}

// --- doorbells -----------------------------------------------------------------------------------

/// Each side writes here what the other side waits for.
struct words {
  alignas(64) std::atomic<std::uint32_t> to[2];
};

/// One side: its own doorbell, the other's, and nothing else that could wake it.
struct side {
  runtime::doorbell& own;
  runtime::remote_doorbell& other;
  std::atomic<std::uint32_t>& in;
  std::atomic<std::uint32_t>& out;
  std::uint64_t sleeps = 0;

  void send(std::uint32_t n) {
    out.store(n, std::memory_order_release);
    other.ring_if_asleep();
  }
  std::uint32_t wait_after(std::uint32_t n) {
    while (in.load(std::memory_order_acquire) == n) {
      own.arm_asleep();
      if (in.load(std::memory_order_acquire) == n) {
        ++sleeps;
        pollfd bell{own.caller_wakeup().fd(), POLLIN, 0};
        ::poll(&bell, 1, -1);
        own.caller_wakeup().drain();
      }
      own.disarm_asleep();
    }
    return in.load(std::memory_order_acquire);
  }
};

/// Back and forth until this side has slept that often.
void between_doorbells(std::uint64_t goal) {
  void* const shared =
      ::mmap(nullptr, sizeof(words), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  words& w = *new (shared) words{};
  runtime::doorbell first(false), second(false);
  runtime::remote_doorbell to_first(runtime::duplicate(first.page_fd()), second.to_peers());
  runtime::remote_doorbell to_second(runtime::duplicate(second.page_fd()), first.to_peers());
  in_two_processes(
      [&] {
        if (!runtime::join_heavy_fences()) to_first.fence_always();
        side me{second, to_first, w.to[1], w.to[0]};
        for (std::uint32_t n = 0; (n = me.wait_after(n)) != the_end;) me.send(n);
      },
      [&] {
        side me{first, to_second, w.to[0], w.to[1]};
        for (std::uint32_t n = 1; me.sleeps < goal; ++n) {
          me.send(n);
          if (me.wait_after(n - 1) != n) throw std::logic_error("an answer to something else");
        }
        me.send(the_end);
        CHECK(me.sleeps >= goal);
      });
  ::munmap(shared, sizeof(words));
}

// --- messages ------------------------------------------------------------------------------------

task<void> answer(context& ctx, std::string own, std::string other) {
  const endpoint peer = co_await ctx.meet(own, other, "hand-over");
  for (std::uint32_t n = 0; n != the_end;) {
    co_await peer.recv(std::as_writable_bytes(std::span(&n, 1)), ball);
    co_await peer.send(std::as_bytes(std::span(&n, 1)), ball);
  }
}

task<void> ask(context& ctx, std::string own, std::string other, std::uint64_t goal) {
  const endpoint peer = co_await ctx.meet(own, other, "hand-over");
  for (std::uint32_t n = 1, last = 0; last != the_end; ++n) {
    const std::uint32_t sent = ctx.snapshot().sleeps < goal ? n : the_end;
    co_await peer.send(std::as_bytes(std::span(&sent, 1)), ball);
    co_await peer.recv(std::as_writable_bytes(std::span(&last, 1)), ball);
    if (last != sent) throw std::logic_error("an answer to something else");
  }
}

/// Until this side has slept that often, waiting for a message of the other process.
void between_processes(std::uint64_t goal) {
  const std::string here = listening("-here"), there = listening("-there");
  in_two_processes(
      [&] {
        context ctx(sleeping(progress_mode::interrupt));
        run(ctx, answer(ctx, there, here));
      },
      [&] {
        context ctx(sleeping(progress_mode::interrupt));
        run(ctx, ask(ctx, here, there, goal));
        CHECK(ctx.snapshot().sleeps >= goal);
      });
}

/// Posts receives and computes, in batches, until no more messages come.
task<void> stay_away(context& ctx, std::string own, std::string other, std::atomic<int>& matched,
                     const std::atomic<bool>& over) {
  constexpr int batch = 100;
  const endpoint peer = co_await ctx.meet(own, other, "hand-over");
  co_await peer.send(const_buffer{}, ball);
  while (!over.load()) {
    scope receives;
    const int before = matched.load();
    for (int i = 0; i != batch; ++i) receives.start(peer.recv(mutable_buffer{}, ball));
    while (matched.load() < before + batch && !over.load()) std::this_thread::yield();
    if (over.load()) receives.request_stop();
    co_await receives.join();
  }
}

task<void> wake_it(context& ctx, std::string own, std::string other, std::atomic<int>& matched,
                   const context& away, std::uint64_t goal) {
  const endpoint peer = co_await ctx.meet(own, other, "hand-over");
  co_await peer.recv(mutable_buffer{}, ball);
  for (std::uint64_t slept = 0; slept + ctx.snapshot().sleeps < goal;) {
    co_await peer.send_synchronous(const_buffer{}, ball);
    ++matched;
    // The next message shall find the progress thread asleep again, or about to sleep.
    for (int i = 0; i != 10 && away.snapshot().sleeps == slept; ++i)
      std::this_thread::sleep_for(std::chrono::microseconds(1));
    slept = away.snapshot().sleeps;
  }
}

/// One context's application computes all the time: its progress thread is woken for every message
/// and answers, which wakes the thread that waits in the other context. Until that thread has slept
/// that often.
void between_progress_thread_and_waiter(std::uint64_t goal) {
  const std::string here = listening("-waits"), there = listening("-away");
  std::atomic<bool> over{false};
  std::atomic<int> matched{0};
  context away(sleeping(progress_mode::dedicated));
  std::thread computing([&] { run(away, stay_away(away, there, here, matched, over)); });
  context ctx(sleeping(progress_mode::interrupt));
  run(ctx, wake_it(ctx, here, there, matched, away, goal));
  over = true;
  computing.join();
  // The scheduler decides how the two share the sleeps.
  CHECK(ctx.snapshot().sleeps + away.snapshot().sleeps >= goal);
  CHECK(ctx.snapshot().sleeps != 0);
  CHECK(away.snapshot().sleeps != 0);
}

/// A thread that posts, and a thread that sleeps inside run() until then.
void between_threads(std::uint64_t goal) {
  context ctx(sleeping(progress_mode::interrupt));
  const endpoint self = ctx.world()[0];
  std::thread poster([&] {
    std::atomic<std::uint32_t> ran{0};
    for (std::uint32_t n = 0; ctx.snapshot().sleeps < goal; ++n) {
      spawn(ctx, [](std::atomic<std::uint32_t>& count) -> task<void> {
        ++count;
        co_return;
      }(ran));
      while (ran == n) std::this_thread::yield();
    }
    sync_wait(ctx, self.send(const_buffer{}, ball));
  });
  sync_wait(ctx, self.recv(mutable_buffer{}, ball));
  poster.join();
}

constexpr std::uint64_t some = 3000, million = 1'000'000;

}  // namespace

TEST_CASE("hand-over: between two doorbells") { between_doorbells(some); }
TEST_CASE("hand-over: between two processes") { between_processes(some); }
TEST_CASE("hand-over: between a progress thread and a waiter") {
  between_progress_thread_and_waiter(some);
}
TEST_CASE("hand-over: between a thread that posts and a sleeper") { between_threads(some); }

TEST_CASE("hand-over: a million between two doorbells", "[.soak]") { between_doorbells(million); }
TEST_CASE("hand-over: a million between two processes", "[.soak]") { between_processes(million); }
TEST_CASE("hand-over: a million between a progress thread and a waiter", "[.soak]") {
  between_progress_thread_and_waiter(million);
}
TEST_CASE("hand-over: a million between a thread that posts and a sleeper", "[.soak]") {
  between_threads(million);
}
