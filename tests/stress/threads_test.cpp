// SPDX-License-Identifier: Apache-2.0
// Many threads at one context: they post, cancel, and take and release the progress lock, all at
// the same time.
#include <dirent.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "runtime/lock/progress_lock.hpp"
#include "support/catch.hpp"

using namespace weft;

namespace {

template <class F>
void on_threads(unsigned n, F f) {
  std::vector<std::thread> all;
  for (unsigned i = 0; i != n; ++i) all.emplace_back(f, i);
  for (std::thread& t : all) t.join();
}

options with(progress_mode mode) {
  options o;
  o.progress = mode;
  return o;
}

progress_mode every_mode() {
  return GENERATE(progress_mode::dedicated, progress_mode::polling, progress_mode::interrupt);
}

task<void> send_numbers(endpoint to, tag t, std::uint64_t count) {
  for (std::uint64_t i = 0; i != count; ++i) co_await to.send(std::as_bytes(std::span(&i, 1)), t);
}
task<bool> receive_numbers(endpoint from, tag t, std::uint64_t count) {
  bool in_order = true;
  for (std::uint64_t i = 0, got = 0; i != count; ++i) {
    co_await from.recv(std::as_writable_bytes(std::span(&got, 1)), t);
    in_order = in_order && got == i;
  }
  co_return in_order;
}

std::size_t open_descriptors() {
  std::size_t n = 0;
  DIR* d = ::opendir("/proc/self/fd");
  while (::readdir(d)) ++n;
  ::closedir(d);
  return n;
}

}  // namespace

TEST_CASE("stress: many threads post, and wait") {
  const progress_mode mode = every_mode();
  context ctx(with(mode));
  const endpoint self = ctx.world()[0];
  constexpr std::uint64_t messages = 2000;
  std::atomic<unsigned> well{0};
  on_threads(6, [&](unsigned i) {
    const tag t{i / 2};
    if (i % 2 == 0)
      run(ctx, send_numbers(self, t, messages));
    else if (run(ctx, receive_numbers(self, t, messages)))
      ++well;
  });
  CHECK(well == 3);
  const metrics m = ctx.snapshot();
  CHECK(m.messages_sent == 3 * messages);
  CHECK(m.messages_received == 3 * messages);
}

TEST_CASE("stress: many threads spawn, and one leads") {
  const progress_mode mode = every_mode();
  context ctx(with(mode));
  const endpoint self = ctx.world()[0];
  constexpr unsigned threads = 4, each = 1000;
  std::thread leader([&] { sync_wait(ctx, self.recv(mutable_buffer{}, tag{9})); });
  int running = 0, ran = 0;  // coroutines of a context never run in parallel
  std::atomic<int> wrong{0}, finished{0};
  on_threads(threads, [&](unsigned) {
    for (unsigned i = 0; i != each; ++i)
      spawn(ctx,
            [](endpoint e, int& now, int& all, std::atomic<int>& bad,
               std::atomic<int>& end) -> task<void> {
              bad += now++ != 0;
              ++all;
              --now;
              co_await e.send(const_buffer{}, tag{1});
              co_await e.recv(mutable_buffer{}, tag{1});
              bad += now++ != 0;
              --now;
              ++end;
              end.notify_all();
            }(self, running, ran, wrong, finished));
  });
  for (int now = finished; now != threads * each; now = finished) finished.wait(now);
  sync_wait(ctx, self.send(const_buffer{}, tag{9}));
  leader.join();
  CHECK(wrong == 0);
  CHECK(ran == threads * each);
}

TEST_CASE("stress: a stop that races the message") {
  const progress_mode mode = every_mode();
  context ctx(with(mode));
  const endpoint self = ctx.world()[0];
  unsigned received = 0, stopped = 0;
  constexpr std::uint64_t rounds = 1000;
  for (std::uint64_t round = 0; round != rounds; ++round) {
    std::stop_source stop;
    std::atomic<int> there{0};
    const auto meet = [&there] {
      ++there;
      while (there != 3) std::this_thread::yield();
    };
    std::uint64_t got = ~0ull;
    std::thread sender([&] {
      meet();
      sync_wait(ctx, self.send(std::as_bytes(std::span(&round, 1)), tag{1}));
    });
    std::thread stopper([&] {
      meet();
      stop.request_stop();
    });
    meet();
    const auto receive = [](endpoint from, std::uint64_t& into,
                            std::stop_token asked) -> task<errc> {
      scope one;
      errc how = errc::ok;
      one.start([](endpoint e, std::uint64_t& to, errc& end) -> task<void> {
        const auto r =
            co_await as_result(e.recv(std::as_writable_bytes(std::span(&to, 1)), tag{1}));
        end = r.code();
      }(from, into, how));
      const std::stop_callback obey(asked, [&one] { one.request_stop(); });
      co_await one.join();
      co_return how;
    };
    const errc how = run(ctx, receive(self, got, stop.get_token()));
    sender.join();
    stopper.join();
    // Either the receive has the message, or its buffer is unchanged and the message is still
    // there.
    if (how == errc::ok) {
      REQUIRE(got == round);
      ++received;
    } else {
      REQUIRE(how == errc::stopped);
      REQUIRE(got == ~0ull);
      sync_wait(ctx, self.recv(std::as_writable_bytes(std::span(&got, 1)), tag{1}));
      REQUIRE(got == round);
      ++stopped;
    }
  }
  INFO(received << " received, " << stopped << " stopped");
  CHECK(received + stopped == rounds);
}

TEST_CASE("stress: contexts are made and destroyed, with messages under way") {
  const progress_mode mode = every_mode();
  { const context first(with(mode)); }  // opens what is opened once per process
  const std::size_t before = open_descriptors();
  for (int round = 0; round != 20; ++round) {
    std::atomic<int> ended{0};
    {
      context ctx(with(mode));
      const endpoint self = ctx.world()[0];
      const auto wait = [](endpoint e, tag t, std::atomic<int>& n) -> task<void> {
        const auto r = co_await as_result(e.recv(mutable_buffer{}, t));
        n += r.code() == errc::closed || r.code() == errc::ok;
      };
      on_threads(3, [&](unsigned i) {
        for (unsigned k = 0; k != 5; ++k) spawn(ctx, wait(self, tag{i}, ended));
        sync_wait(ctx, self.send(const_buffer{}, tag{i}));
      });
    }
    REQUIRE(ended == 15);
  }
  CHECK(open_descriptors() == before);
}

TEST_CASE("stress: the progress lock under load") {
  runtime::progress_lock progress_lock;
  int plain = 0;  // ThreadSanitizer reports if two threads use it at once
  std::atomic<int> inside{0}, wrong{0};
  const auto use = [&] {
    wrong += inside.fetch_add(1) != 0;
    ++plain;
    inside.fetch_sub(1);
  };
  // One thread leads and is biased now and then; the others try seldom, or often, or all the time.
  constexpr int turns = 1000;
  std::atomic<int> others{3};
  int led = 0;
  on_threads(4, [&](unsigned i) {
    for (int turn = 0; i != 0 && turn != turns;) {
      if (i != 1)
        progress_lock.take();
      else if (!progress_lock.try_take())
        continue;
      use();
      progress_lock.give();
      ++turn;
      if (i != 2 && turn % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    if (i != 0) --others;
    for (; i == 0 && others != 0; ++led) {
      progress_lock.lock_biased();
      use();
      progress_lock.unlock_biased();
      if (progress_lock.wanted()) progress_lock.let_waiters_in();
    }
  });
  CHECK(wrong == 0);
  CHECK(plain == led + 3 * turns);
}
