// SPDX-License-Identifier: Apache-2.0
// Operations of weft with completion tokens of Asio.

#include <asio/awaitable.hpp>
#include <asio/bind_allocator.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <chrono>
#include <exception>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

#include <weft/interop/asio.hpp>

#include "support/catch.hpp"
#include "unit/interop/to_self.hpp"

using namespace weft;
using namespace std::chrono_literals;
using weft::test::to_self;

namespace {

errc async_kind_of(const std::exception_ptr& e) {
  if (!e) return errc::ok;
  try {
    std::rethrow_exception(e);
  } catch (const error& x) {
    return x.kind();
  }
}

/// The allocator of a test: counts the memory that is in use.
template <class T>
struct async_counted {
  using value_type = T;
  explicit async_counted(int& n) : live(&n) {}
  template <class U>
  async_counted(const async_counted<U>& other) : live(other.live) {}  // NOLINT: rebinds
  T* allocate(std::size_t n) {
    ++*live;
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* p, std::size_t n) {
    --*live;
    std::allocator<T>().deallocate(p, n);
  }
  bool operator==(const async_counted&) const = default;
  int* live;
};

task<int> async_double_of(to_self& w) {
  co_await w.recv();
  co_return 2 * w.value();
}
task<void> async_throws() {
  co_await sleep_for(1us);
  throw std::runtime_error("as asked");
}
task<void> async_waits_for_stop(to_self& w) { co_await w.recv(tag{99}); }

/// A context that another thread runs.
class async_runner {
 public:
  explicit async_runner(to_self& w) : w_(w), thread_([this] { run(w_.ctx, until_end()); }) {}
  ~async_runner() {
    end_.request_stop();
    thread_.join();
  }

 private:
  task<void> until_end() {
    try {
      co_await stoppable(end_.get_token(),
                         sleep_until(std::chrono::steady_clock::time_point::max()));
    } catch (const error&) {
      co_return;
    }
  }
  to_self& w_;
  std::stop_source end_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("async: a callback gets the value, and is never called inside the call") {
  to_self w;
  asio::io_context io;
  asio_loop loop(w.ctx, io);
  bool inside = true, early = false;
  int got = 0;
  asio::post(io, [&] {
    async(w.recv(), [&](const std::exception_ptr& e, received r) {
      early |= inside;
      if (!e && r.size == 8) got = w.value();
      loop.stop();
    });
    async(w.send(5), [&](const std::exception_ptr&) { early |= inside; });
    inside = false;
  });
  io.run();
  CHECK(got == 5);
  CHECK_FALSE(early);
}

TEST_CASE("async: use_future, with the context inside run() on another thread") {
  to_self w;
  const async_runner elsewhere(w);
  std::future<received> got = async(w.recv(), asio::use_future);
  async(w.send(6), asio::use_future).get();
  CHECK(got.get().size == 8);
  CHECK(w.value() == 6);
}

TEST_CASE("async: an error is an exception with weft's text") {
  to_self w;
  const async_runner elsewhere(w);
  std::future<void> bad = async(endpoint().send(const_buffer{}, tag{1}), asio::use_future);
  CHECK_THROWS_AS(bad.get(), error);
}

TEST_CASE("async: the handler runs on its executor, and that has work until then") {
  to_self w;
  const async_runner elsewhere(w);
  asio::io_context io;
  std::thread::id on;
  async(w.recv(), asio::bind_executor(io.get_executor(), [&](const std::exception_ptr&, received) {
          on = std::this_thread::get_id();
        }));
  asio::steady_timer later(io, 1ms);
  later.async_wait([&](auto) { async(w.send(1), asio::detached); });
  io.run();  // does not return before the handler was called
  CHECK(on == std::this_thread::get_id());
}

TEST_CASE("async: the operation lives in memory of the handler's allocator, and is freed first") {
  to_self w;
  asio::io_context io;
  asio_loop loop(w.ctx, io);
  int live = 0, at_the_call = -1;
  async(w.recv(),
        asio::bind_allocator(async_counted<int>(live), [&](const std::exception_ptr&, received) {
          at_the_call = live;
          loop.stop();
        }));
  CHECK(live == 1);
  async(w.send(1), asio::detached);
  io.run();
  CHECK(at_the_call == 0);
  CHECK(live == 0);
}

TEST_CASE("async: each type of cancellation stops a receive") {
  to_self w;
  asio::io_context io;
  asio_loop loop(w.ctx, io);
  const auto type = GENERATE(asio::cancellation_type::terminal, asio::cancellation_type::partial,
                             asio::cancellation_type::total);
  asio::cancellation_signal signal;
  errc end = errc::ok;
  async(w.recv(),
        asio::bind_cancellation_slot(
            signal.slot(), asio::bind_executor(io, [&](const std::exception_ptr& e, received) {
              end = async_kind_of(e);
              loop.stop();
            })));
  asio::post(io, [&] { signal.emit(type); });
  io.run();
  CHECK(end == errc::stopped);
  signal.emit(type);  // too late: the slot is clear
}

TEST_CASE("async: a cancellation from the io_context's thread, with the context on another") {
  to_self w;
  const async_runner elsewhere(w);
  asio::io_context io;
  asio::cancellation_signal signal;
  int stopped = 0;
  for (int i = 0; i != 100; ++i) {
    async(w.recv(),
          asio::bind_cancellation_slot(
              signal.slot(), asio::bind_executor(io, [&](const std::exception_ptr& e, received) {
                stopped += async_kind_of(e) == errc::stopped ? 1 : 0;
              })));
    asio::post(io, [&] { signal.emit(asio::cancellation_type::terminal); });
    io.run();
    io.restart();
  }
  CHECK(stopped == 100);
}

TEST_CASE("async: an exception of a handler leaves io_context::run, and the loop goes on") {
  to_self w;
  asio::io_context io;
  asio_loop loop(w.ctx, io);
  async(w.recv(), asio::bind_executor(io, [](const std::exception_ptr&, received) {
          throw std::runtime_error("from the handler");
        }));
  async(w.send(1), asio::detached);
  CHECK_THROWS_WITH(io.run(), "from the handler");
  int got = 0;
  async(w.recv(), [&](const std::exception_ptr&, received) {
    got = w.value();
    loop.stop();
  });
  async(w.send(4), asio::detached);
  io.run();
  CHECK(got == 4);
}

TEST_CASE("async: a task with its value, its exception, and a stop by cancellation") {
  to_self w;
  asio::io_context io;
  asio_loop loop(w.ctx, io);
  int value = 0;
  std::string why;
  errc end = errc::ok;
  asio::cancellation_signal signal;
  int left = 2;
  const auto one_less = [&] {
    if (--left == 0) loop.stop();
  };
  async(w.ctx, async_double_of(w), [&](const std::exception_ptr&, int v) {
    value = v;
    one_less();
  });
  async(w.send(21), asio::detached);
  async(w.ctx, async_throws(), [&](const std::exception_ptr& e) {
    try {
      std::rethrow_exception(e);
    } catch (const std::exception& x) {
      why = x.what();
    }
    signal.emit(asio::cancellation_type::terminal);
  });
  async(w.ctx, async_waits_for_stop(w),
        asio::bind_cancellation_slot(signal.slot(), [&](const std::exception_ptr& e) {
          end = async_kind_of(e);
          one_less();
        }));
  io.run();
  CHECK(value == 42);
  CHECK(why == "as asked");
  CHECK(end == errc::stopped);
}

TEST_CASE("async: operations in flight when their context ends call their handlers with closed") {
  asio::io_context io;
  errc request = errc::ok, chain = errc::ok;
  {
    to_self w;
    asio_loop loop(w.ctx, io);
    async(w.recv(), asio::bind_executor(io, [&](const std::exception_ptr& e, received) {
            request = async_kind_of(e);
          }));
    async(w.ctx, async_waits_for_stop(w),
          asio::bind_executor(io, [&](const std::exception_ptr& e) { chain = async_kind_of(e); }));
    io.poll_one();
  }
  io.run();
  CHECK(request == errc::closed);
  CHECK(chain == errc::closed);
}

TEST_CASE("async: a cancellation between the end of the context and the handler does nothing") {
  asio::io_context io;
  asio::cancellation_signal signal;
  errc end = errc::ok;
  {
    to_self w;
    async(w.recv(),
          asio::bind_cancellation_slot(
              signal.slot(), asio::bind_executor(io, [&](const std::exception_ptr& e, received) {
                end = async_kind_of(e);
              })));
  }
  signal.emit(asio::cancellation_type::terminal);
  io.run();
  CHECK(end == errc::closed);
}

TEST_CASE("async: an io_context that ends first frees the operations that end later") {
  to_self w;
  int live = 0;
  {
    asio::io_context io;
    async(w.recv(), asio::bind_executor(
                        io, asio::bind_allocator(async_counted<int>(live),
                                                 [](const std::exception_ptr&, received) {})));
    CHECK(live == 1);
    async(w.send(1), asio::detached);
    run(w.ctx, w.all_came());
    // The end is posted to an io_context that never runs.
  }
  CHECK(live == 0);
}

#ifdef ASIO_HAS_CO_AWAIT
namespace {
asio::awaitable<void> async_echo(to_self& w, int& sum, asio_loop& loop) {
  for (int i = 0; i != 100; ++i) {
    async(w.send(i), asio::detached);
    const received got = co_await async(w.recv(), asio::use_awaitable);
    sum += got.size == 8 ? w.value() : 1000;
  }
  try {
    co_await async(endpoint().send(const_buffer{}, tag{1}), asio::use_awaitable);
  } catch (const error&) {
    ++sum;
  }
  loop.stop();
}
}  // namespace

TEST_CASE("async: in coroutines of Asio") {
  to_self w;
  asio::io_context io;
  asio_loop loop(w.ctx, io);
  int sum = 0;
  asio::co_spawn(io, async_echo(w, sum, loop), asio::detached);
  io.run();
  CHECK(sum == 4951);
}
#endif
