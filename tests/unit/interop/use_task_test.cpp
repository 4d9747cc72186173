// SPDX-License-Identifier: Apache-2.0
// Operations of Asio awaited in tasks of weft, and chains on executors of Asio.

#include <array>
#include <asio/buffer.hpp>
#include <asio/local/connect_pair.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read.hpp>
#include <asio/steady_timer.hpp>
#include <asio/thread_pool.hpp>
#include <asio/write.hpp>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <weft/coro/local_loop.hpp>
#include <weft/interop/asio.hpp>

#include "support/catch.hpp"
#include "unit/coro/this_thread.hpp"
#include "unit/interop/to_self.hpp"

using namespace weft;
using namespace std::chrono_literals;
using weft::test::to_self;
using use_task_socket = asio::local::stream_protocol::socket;

namespace {

struct two_sockets {
  explicit two_sockets(asio::io_context& io) : a(io), b(io) { asio::local::connect_pair(a, b); }
  use_task_socket a, b;
};

task<void> use_task_talk(two_sockets& s, std::string& heard, asio_loop& loop) {
  co_await asio::async_write(s.a, asio::buffer("hello", 5), use_task);
  heard.resize(5);
  const std::size_t n = co_await asio::async_read(s.b, asio::buffer(heard), use_task);
  heard.resize(n);
  loop.stop();
}

task<void> use_task_reads(use_task_socket& s, std::string& why) {
  char c = 0;
  try {
    co_await s.async_read_some(asio::buffer(&c, 1), use_task);
  } catch (const asio::system_error& e) {
    why = e.code() == asio::error::eof                 ? "eof"
          : e.code() == asio::error::operation_aborted ? "aborted"
                                                       : e.what();
  }
}
task<void> use_task_reads_whole(use_task_socket& s, std::string& why, asio_loop& loop) {
  char text[8];
  // A composed operation: the stop reaches its present step.
  const auto [e, n] = co_await within(2ms, asio::async_read(s, asio::buffer(text), use_task_tuple));
  why =
      (e == asio::error::operation_aborted ? "aborted after " : "ended after ") + std::to_string(n);
  loop.stop();
}

/// The executor of a handler that hides the executor of its operation.
struct use_task_own_operation {
  template <class Handler>
  void operator()(Handler&& h, int how) const {
    switch (how) {
      case 0:
        return std::move(h)(std::exception_ptr{}, 1, std::string("x"));  // inside the call
      case 1:
        return std::move(h)(std::make_exception_ptr(std::runtime_error("as asked")), 0,
                            std::string());
      case 2:
        return;  // destroys the handler
      default:
        throw std::runtime_error("not begun");
    }
  }
};
template <class Token>
auto use_task_own(int how, Token&& token) {
  return asio::async_initiate<Token, void(std::exception_ptr, int, std::string)>(
      use_task_own_operation{}, token, how);
}

task<std::string> use_task_all_ends() {
  const auto [n, s] = co_await use_task_own(0, use_task);
  std::string all = std::to_string(n) + s;
  for (int how = 1; how != 4; ++how) {
    try {
      co_await use_task_own(how, use_task);
    } catch (const error& e) {
      all += e.kind() == errc::closed ? " closed" : " ?";
    } catch (const std::exception& e) {
      all += std::string(" ") + e.what();
    }
  }
  co_return all;
}

task<void> use_task_waits(asio::steady_timer& t, bool& aborted) {
  const auto [e] = co_await t.async_wait(use_task_tuple);
  aborted = e == asio::error::operation_aborted;
}

/// Waits on Asio, on its own executor, and for a message of weft: all on one thread.
task<bool> use_task_stays_on(to_self& w, executor& on, asio::steady_timer& t) {
  co_await resume_on(on);
  const std::thread::id there = this_thread();
  t.expires_after(1us);
  co_await t.async_wait(use_task);
  bool same = this_thread() == there;
  co_await w.send(3);
  co_await w.recv();
  same = same && this_thread() == there;
  co_await resume_home();
  co_return same&& this_thread() != there;
}

/// An operation without an executor, which calls its handler inside the cancellation.
struct use_task_ends_when_stopped {
  template <class Handler>
  void operator()(Handler&& h) const {
    auto slot = asio::get_associated_cancellation_slot(h);
    auto kept = std::make_shared<std::decay_t<Handler>>(std::forward<Handler>(h));
    slot.assign([kept](asio::cancellation_type) mutable {
      (*kept)(asio::error_code(asio::error::operation_aborted));
      kept.reset();  // the signal, which holds this function, outlives the call
    });
  }
};
task<std::string> use_task_stopped_inside() {
  const auto until_stopped = [] {
    return asio::async_initiate<const use_task_tuple_t&, void(asio::error_code)>(
        use_task_ends_when_stopped{}, use_task_tuple);
  };
  const auto [e] = co_await within(1ms, until_stopped());
  co_return e == asio::error::operation_aborted ? "aborted" : "ended";
}

task<void> use_task_counts(to_self& w, executor& on, std::atomic<int>& n, tag t) {
  co_await resume_on(on);
  std::array<std::byte, 1> in{}, out{};
  for (int i = 0; i != 200; ++i) {
    scope both;
    both.start(w.me.recv(std::span(in), t));
    both.start(w.me.send(std::span(out), t));
    co_await both.join();
    ++n;
  }
}

task<void> use_task_short_waits(asio::steady_timer& t, std::stop_token stop, int& stopped) {
  for (int i = 0; i != 300; ++i) {
    t.expires_after(20us);
    const auto [e] = co_await stoppable(stop, t.async_wait(use_task_tuple));
    if (e == asio::error::operation_aborted) ++stopped;
  }
}
task<void> use_task_many_stops(asio::steady_timer& t, std::vector<std::stop_source>& stops,
                               int& ended) {
  for (std::stop_source& s : stops) {
    t.expires_after(std::chrono::hours(1));
    const auto [e] = co_await stoppable(s.get_token(), t.async_wait(use_task_tuple));
    if (e == asio::error::operation_aborted) ++ended;
  }
}

}  // namespace

TEST_CASE("use_task: sockets of Asio in a task, one thread for both") {
  to_self w;
  asio::io_context io;
  asio_loop loop(w.ctx, io);
  two_sockets s(io);
  std::string heard;
  spawn(w.ctx, use_task_talk(s, heard, loop));
  io.run();
  CHECK(heard == "hello");
}

TEST_CASE("use_task: an error_code becomes asio::system_error") {
  to_self w;
  asio::io_context io;
  asio_loop loop(w.ctx, io);
  two_sockets s(io);
  std::string why;
  s.a.close();
  spawn(w.ctx, [](use_task_socket& b, std::string& y, asio_loop& p) -> task<void> {
    co_await use_task_reads(b, y);
    p.stop();
  }(s.b, why, loop));
  io.run();
  CHECK(why == "eof");
}

TEST_CASE(
    "use_task: a deadline cancels an operation, and use_task_tuple has the error as a value") {
  to_self w;
  asio::io_context io;
  asio_loop loop(w.ctx, io);
  two_sockets s(io);
  asio::write(s.a, asio::buffer("abc", 3));
  std::string why;
  spawn(w.ctx, use_task_reads_whole(s.b, why, loop));
  io.run();
  CHECK(why == "aborted after 3");
}

TEST_CASE(
    "use_task: an operation that ends inside its call, fails, never ends, or does not begin") {
  local_loop loop;
  CHECK(run(loop, use_task_all_ends()) == "1x as asked closed not begun");
}

TEST_CASE("use_task: a chain that is asked to stop before does not wait") {
  to_self w;
  asio::io_context io;
  asio_loop loop(w.ctx, io);
  asio::steady_timer t(io, std::chrono::hours(1));
  std::stop_source stop;
  stop.request_stop();
  bool aborted = false;
  spawn(w.ctx, [](std::stop_token s, asio::steady_timer& at, bool& a, asio_loop& p) -> task<void> {
    co_await stoppable(s, use_task_waits(at, a));
    p.stop();
  }(stop.get_token(), t, aborted, loop));
  io.run();
  CHECK(aborted);
}

TEST_CASE("use_task: a stop calls the handler inside the cancellation") {
  context ctx;
  CHECK(run(ctx, use_task_stopped_inside()) == "aborted");
}

TEST_CASE("use_task: stops from another thread, while the io_context runs on a third") {
  to_self w;
  asio::io_context io;
  const auto work = asio::make_work_guard(io);
  std::thread asio_thread([&] { io.run(); });
  asio::steady_timer t(io);
  std::vector<std::stop_source> stops(200);
  int ended = 0;
  std::thread stopper([stops]() mutable {
    for (std::stop_source& s : stops) s.request_stop();
  });
  run(w.ctx, use_task_many_stops(t, stops, ended));
  CHECK(ended == 200);
  stopper.join();
  // A stop and the end at the same time.
  std::stop_source now;
  int stopped = 0;
  std::thread later([&] { now.request_stop(); });
  run(w.ctx, use_task_short_waits(t, now.get_token(), stopped));
  later.join();
  io.stop();
  asio_thread.join();
}

TEST_CASE("use_task: an io_context that ends first ends the operation") {
  to_self w;
  bool aborted = false;
  {
    asio::io_context io;
    asio::steady_timer t(io, std::chrono::hours(1));
    asio_loop loop(w.ctx, io);
    spawn(w.ctx, use_task_waits(t, aborted));
    while (loop.turns() == 0) io.poll_one();  // the first turn starts the wait
  }
  run(w.ctx, sleep_for(1us));
  CHECK(aborted);
}

TEST_CASE("asio_executor: a chain stays on the thread of its io_context, and returns") {
  to_self w;
  asio::io_context io;
  const auto work = asio::make_work_guard(io);
  asio::steady_timer t(io);
  asio_executor on(io.get_executor());
  bool stayed = false;
  std::thread other([&] {
    stayed = run(w.ctx, use_task_stays_on(w, on, t));
    io.stop();
  });
  io.run();
  other.join();
  CHECK(stayed);
}

TEST_CASE("asio_executor: a pool of Asio's threads, and a strand") {
  to_self w;
  asio::thread_pool pool(2);
  asio_executor on(pool.get_executor());
  asio_executor one(asio::make_strand(pool));
  asio_executor any(asio::any_io_executor(pool.get_executor()));
  std::atomic<int> n{0};
  run(w.ctx, when_all(use_task_counts(w, on, n, tag{1}), use_task_counts(w, one, n, tag{2}),
                      use_task_counts(w, on, n, tag{3}), use_task_counts(w, any, n, tag{4})));
  CHECK(n == 800);
  pool.join();
}
