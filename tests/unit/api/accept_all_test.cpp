// SPDX-License-Identifier: Apache-2.0
// listener::accept_all: peers come and go until the listener closes.
#include <unistd.h>

#include <chrono>
#include <future>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

constexpr am doubled{1};

options only_shm() {
  options o;
  o.transports = {"shm"};
  o.job_key = std::string(32, 'a');
  return o;
}

std::string fresh_address() {
  static int count = 0;
  return "unix://weft-accept-all-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

/// A program of its own, with its own thread: connects, calls, and goes.
int ask_once(const std::string& at, int n) {
  int answer = 0;
  std::thread guest([&] {
    context ctx(only_shm());
    const auto ask = [&]() -> task<int> {
      const endpoint host = co_await within(30s, ctx.connect(at));
      co_return co_await within(30s, host.call<int>(doubled, n));
    };
    answer = run(ctx, ask());
  });
  guest.join();
  return answer;
}

}  // namespace

TEST_CASE("accept_all: serves peers that come and go, until the listener closes") {
  context ctx(only_shm());
  const auto serve = [&]() -> task<void> {
    const handler doubles = ctx.on<int(int)>(doubled, [](int n) { return 2 * n; });
    listener door = co_await ctx.listen(fresh_address());
    scope doors;
    bool over = false;
    doors.start(door.accept_all(), [&] { over = true; });
    for (int n = 1; n != 4; ++n) {
      event asked;
      int answer = 0;
      std::jthread guest([&] {
        answer = ask_once(door.address(), n);
        asked.set();
      });
      co_await asked.wait();
      guest.join();
      CHECK(answer == 2 * n);
    }
    CHECK_FALSE(over);
    door.close();
    co_await doors.join();
    CHECK(over);
  };
  run(ctx, within(60s, serve()));
}

TEST_CASE("accept_all: each peer gets a task, which is awaited") {
  context host(only_shm());
  context guest(only_shm());
  const std::string at = fresh_address();
  event served;
  const auto greet = [&served](endpoint peer) -> task<void> {
    const int name = co_await peer.recv_value<int>(tag{1});
    co_await peer.send_value(tag{2}, name + 1);
    served.set();
  };
  std::promise<void> open;
  const auto serve = [&]() -> task<void> {
    listener door = co_await host.listen(at);
    open.set_value();
    scope doors;
    doors.start(door.accept_all(greet));
    co_await served.wait();
    door.close();
    co_await doors.join();
  };
  int greeting = 0;
  std::thread there([&] {
    const auto visit = [&]() -> task<void> {
      const endpoint peer = co_await within(30s, guest.connect(at));
      co_await peer.send_value(tag{1}, 41);
      greeting = co_await within(30s, peer.recv_value<int>(tag{2}));
    };
    open.get_future().wait();
    run(guest, visit());
  });
  run(host, within(60s, serve()));
  there.join();
  CHECK(greeting == 42);
}

TEST_CASE("accept_all: ends with the chain's stop, and with the failure of a peer's task") {
  context ctx(only_shm());
  const std::string at = fresh_address();
  const auto stopped = [&]() -> task<errc> {
    listener door = co_await ctx.listen(at);
    const auto end = co_await as_result(within(5ms, door.accept_all()));
    co_return end.code();
  };
  CHECK(run(ctx, stopped()) == errc::timed_out);

  const auto refuses = [](endpoint) -> task<void> {
    throw std::runtime_error("not this one");
    co_return;
  };
  const auto serve = [&]() -> task<std::string> {
    listener door = co_await ctx.listen(at);
    scope doors;
    doors.start(door.accept_all(refuses));
    try {
      co_await doors.join();
    } catch (const std::exception& e) {
      co_return e.what();
    }
    co_return "";
  };
  std::thread there([&] {
    context guest(only_shm());
    const auto visit = [&]() -> task<void> {
      endpoint peer = co_await within(30s, guest.connect(at));
      co_await within(30s, peer.closed());
    };
    try {
      run(guest, visit());
    } catch (const error&) {
      // The host has gone first.
    }
  });
  CHECK(run(ctx, within(30s, serve())) == "not this one");
  { context gone = std::move(ctx); }
  there.join();
}
