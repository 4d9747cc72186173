// SPDX-License-Identifier: Apache-2.0
// A context inside io_context::run.

#include <array>
#include <asio/detached.hpp>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/external_loop.hpp>
#include <weft/interop/asio.hpp>

#include "support/catch.hpp"
#include "unit/interop/to_self.hpp"

using namespace weft;
using namespace std::chrono_literals;
using weft::test::to_self;

namespace {

/// A message to this process that another coroutine sends, `times` times.
task<void> loop_ping(to_self& w, int times, int& came) {
  for (int i = 0; i != times; ++i) {
    scope both;
    both.start(w.recv());
    both.start(w.send(i));
    co_await both.join();
    if (w.value() == i) ++came;
  }
}

task<void> loop_ping_then_stop(to_self& w, asio_loop& loop, int times, int& came) {
  co_await loop_ping(w, times, came);
  loop.stop();
}

task<void> loop_receive(to_self& w, int& got) {
  co_await w.recv();
  got = w.value();
}

task<void> loop_fail() {
  co_await sleep_for(1us);
  throw std::runtime_error("as asked");
}

task<void> loop_sleep(asio_loop& loop, bool& woke) {
  co_await sleep_for(1ms);
  woke = true;
  loop.stop();
}

task<void> loop_overlap(std::atomic<int>& inside, std::atomic<int>& most, std::atomic<int>& left,
                        asio_loop& loop) {
  for (int i = 0; i != 50; ++i) {
    const int now = ++inside;
    if (now > most) most = now;
    --inside;
    co_await sleep_for(1us);
  }
  if (--left == 0) loop.stop();
}

}  // namespace

TEST_CASE("asio_loop: coroutines of a context run inside io_context::run, and stop ends it") {
  to_self w;
  asio::io_context io;
  asio_loop loop(w.ctx, io);
  int came = 0;
  spawn(w.ctx, loop_ping_then_stop(w, loop, 1000, came));
  CHECK(came == 0);
  io.run();
  CHECK(came == 1000);
}

TEST_CASE("asio_loop: Asio's handlers have their turns while messages come and go") {
  to_self w;
  asio::io_context io;
  asio_loop loop(w.ctx, io);
  int came = 0;
  bool running = true;
  spawn(w.ctx, loop_ping_then_stop(w, loop, 100'000, came));
  int handlers = 0;
  const std::function<void()> again = [&] {
    ++handlers;
    running = came != 100'000;
    if (running) asio::post(io, again);
  };
  asio::post(io, again);
  io.run();
  CHECK(came == 100'000);
  CHECK(handlers > 10);
}

TEST_CASE(
    "asio_loop: an idle context makes no turns, and a message from another handler wakes it") {
  to_self w;
  asio::io_context io;
  asio_loop loop(w.ctx, io);
  int got = 0;
  spawn(w.ctx, loop_receive(w, got));
  // Until the receive is posted, and its thread has waited as long as options::spin.
  asio::steady_timer rest(io);
  std::uint64_t before = 0;
  const auto sleeping = [&] { return w.ctx.describe().find("asleep") != std::string::npos; };
  int looks = 0;
  const std::function<void()> until_asleep = [&] {
    if (!sleeping()) {
      rest.expires_after(1ms);
      rest.async_wait([&](auto) { until_asleep(); });
      return;
    }
    if (before == loop.turns() && ++looks == 3) {
      // Three looks, a millisecond apart, and not one turn.
      return asio::post(
          io, [&] { spawn(w.ctx, [](to_self& s) -> task<void> { co_await s.send(7); }(w)); });
    }
    if (before != loop.turns()) looks = 0;
    before = loop.turns();
    rest.expires_after(1ms);
    rest.async_wait([&](auto) { until_asleep(); });
  };
  until_asleep();
  while (got == 0) io.run_one();
  CHECK(got == 7);
  CHECK(looks == 3);
}

TEST_CASE("asio_loop: a timer of weft wakes the io_context") {
  context ctx;
  asio::io_context io;
  asio_loop loop(ctx, io);
  bool woke = false;
  spawn(ctx, loop_sleep(loop, woke));
  io.run();
  CHECK(woke);
}

TEST_CASE("asio_loop: the exception of a spawned task goes to its on_failure") {
  context ctx;
  asio::io_context io;
  asio_loop loop(ctx, io);
  std::string why;
  spawn(ctx, loop_fail(), [&](const std::exception_ptr& e) {
    try {
      std::rethrow_exception(e);
    } catch (const std::exception& x) {
      why = x.what();
    }
    io.stop();
  });
  io.run();
  CHECK(why == "as asked");
}

TEST_CASE("asio_loop: with several threads in io_context::run, coroutines run one at a time") {
  context ctx;
  asio::io_context io;
  asio_loop loop(ctx, io);
  std::atomic<int> inside{0}, most{0}, left{8};
  for (int i = 0; i != 8; ++i) spawn(ctx, loop_overlap(inside, most, left, loop));
  std::vector<std::thread> threads;
  for (int i = 0; i != 3; ++i) threads.emplace_back([&io] { io.run(); });
  for (std::thread& t : threads) t.join();
  CHECK(most == 1);
  CHECK(left == 0);
}

TEST_CASE("asio_loop: after io_context::stop it goes on with the next run") {
  to_self w;
  asio::io_context io;
  asio_loop loop(w.ctx, io);
  int got = 0, came = 0;
  spawn(w.ctx, loop_receive(w, got));
  asio::post(io, [&] { io.stop(); });
  io.run();
  CHECK(got == 0);
  io.restart();
  spawn(w.ctx, [](to_self& s, int& n, asio_loop& p) -> task<void> {
    co_await s.send(3);
    co_await resume_home();
    n = 1;
    p.stop();
  }(w, came, loop));
  io.run();
  CHECK(came == 1);
}

TEST_CASE("asio_loop: a destroyed loop leaves its context to run(), and to another loop") {
  to_self w;
  asio::io_context io;
  int came = 0;
  {
    asio_loop loop(w.ctx, io);
    spawn(w.ctx, loop_ping(w, 10, came));
    io.poll();
  }
  run(w.ctx, loop_ping(w, 10, came));
  asio_loop loop(w.ctx, io);
  io.restart();
  spawn(w.ctx, loop_ping_then_stop(w, loop, 10, came));
  io.run();
  CHECK(came == 30);
}

TEST_CASE("asio_loop: a context that ends after its loop ends the operations of its tasks") {
  asio::io_context io;
  errc end = errc::ok;
  {
    to_self w;
    asio_loop loop(w.ctx, io);
    spawn(w.ctx, [](to_self& s, errc& e) -> task<void> {
      const auto r = co_await as_result(s.recv());
      e = r.code();
    }(w, end));
    for (int i = 0; i != 20; ++i) io.poll_one();
  }
  CHECK(end == errc::closed);
}

TEST_CASE("asio_loop: run() on another thread takes over, and hands back to the loop") {
  to_self w;
  asio::io_context io;
  asio_loop loop(w.ctx, io);
  int in_run = 0, in_loop = 0;
  std::thread other([&] {
    for (int i = 0; i != 50; ++i) run(w.ctx, loop_ping(w, 1, in_run));
    spawn(w.ctx, loop_ping_then_stop(w, loop, 20, in_loop));
  });
  io.run();
  other.join();
  CHECK(in_run == 50);
  CHECK(in_loop == 20);
}

TEST_CASE("asio_loop: run() on the thread of the io_context works between two turns") {
  to_self w;
  asio::io_context io;
  asio_loop loop(w.ctx, io);
  int came = 0;
  run(w.ctx, loop_ping(w, 5, came));
  asio::post(io, [&] {
    run(w.ctx, loop_ping(w, 5, came));
    spawn(w.ctx, loop_ping_then_stop(w, loop, 5, came));
  });
  io.run();
  CHECK(came == 15);
}

TEST_CASE("asio_loop: a second loop, and an external loop, are refused with a reason") {
  context ctx;
  asio::io_context io;
  asio_loop loop(ctx, io);
  CHECK_THROWS_WITH(asio_loop(ctx, io), weft::tests::contains("embedded"));
  CHECK_THROWS_WITH(external_loop(ctx), weft::tests::contains("embedded"));
}

TEST_CASE("asio_loop: its executor is the strand of the turns") {
  context ctx;
  asio::io_context io;
  asio_loop loop(ctx, io);
  bool here = false;
  spawn(ctx, [](asio_loop& p, bool& h) -> task<void> {
    h = p.get_executor().running_in_this_thread();
    p.stop();
    co_return;
  }(loop, here));
  io.run();
  CHECK(here);
}

TEST_CASE("asio_loop: a coroutine may destroy it") {
  context ctx;
  asio::io_context io;
  std::optional<asio_loop> loop;
  loop.emplace(ctx, io);
  spawn(ctx, [](std::optional<asio_loop>& p) -> task<void> {
    co_await sleep_for(1us);
    p.reset();
  }(loop));
  io.run();
  CHECK_FALSE(loop);
}

TEST_CASE("asio_loop: a handler that makes progress by the way resumes no coroutine") {
  to_self w;
  asio::io_context io;
  asio_loop loop(w.ctx, io);
  bool in_handler = false, resumed_there = false, ended = false;
  spawn(w.ctx,
        [](to_self& s, asio_loop& l, const bool& inside, bool& there, bool& over) -> task<void> {
          co_await s.recv();
          there = inside;
          over = true;
          l.stop();
        }(w, loop, in_handler, resumed_there, ended));
  const std::array<std::byte, 8> data{};
  const std::function<void()> look = [&] {
    in_handler = true;
    if (loop.turns() != 0) w.me.try_probe(tag{9});
    in_handler = false;
    if (!ended) asio::post(io, look);
  };
  asio::post(io, look);
  asio::post(io, [&] { async(w.me.send(std::span(data), tag{1}), asio::detached); });
  io.run();
  CHECK(ended);
  CHECK_FALSE(resumed_there);
}
