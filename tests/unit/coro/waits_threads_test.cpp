// SPDX-License-Identifier: Apache-2.0
// Events, semaphores, mutexes and channels between several loops, pools and plain threads.
#include <atomic>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include <weft/coro/as_result.hpp>
#include <weft/coro/channel.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/local_loop.hpp>
#include <weft/coro/mutex.hpp>
#include <weft/coro/pool.hpp>
#include <weft/coro/semaphore.hpp>
#include <weft/coro/time.hpp>
#include <weft/coro/when.hpp>

#include "support/catch.hpp"
#include "this_thread.hpp"

using namespace weft;

namespace {

/// Threads that leave together, so that what they do next is a race.
class start_gate {
 public:
  explicit start_gate(int threads) noexcept : missing_(threads) {}
  void pass() noexcept {
    --missing_;
    while (missing_ > 0) std::this_thread::yield();
  }

 private:
  std::atomic<int> missing_;
};

task<void> produce(channel<std::unique_ptr<int>>& to, int first, int many) {
  for (int i = first; i != first + many; ++i) {
    std::unique_ptr<int> value = std::make_unique<int>(i);
    co_await to.send(std::move(value));
  }
}

task<void> consume(channel<std::unique_ptr<int>>& from, std::vector<std::atomic<int>>& seen) {
  while (std::optional<std::unique_ptr<int>> value = co_await from.receive())
    ++seen[static_cast<std::size_t>(**value)];
}

template <class Body>
task<void> on_pool(pool& where, Body body) {
  co_await resume_on(where);
  co_await std::move(body);
  co_await resume_home();
}

task<void> add_up(mutex& m, long& sum, int many, std::thread::id where, int& elsewhere) {
  for (int i = 0; i != many; ++i) {
    auto lock = co_await m.lock();
    ++sum;
    elsewhere += this_thread() != where;
  }
}

/// How one wait ended, and where it was then.
struct ending {
  std::optional<int> value;
  errc how = errc::ok;
};

task<ending> receive_with(channel<int>& from, std::stop_token stop, start_gate& line) {
  line.pass();
  result<std::optional<int>> got = co_await as_result(stoppable(std::move(stop), from.receive()));
  ending end;
  end.how = got.code();
  if (got) end.value = got.value();
  co_return end;
}

task<errc> acquire_with(semaphore& from, std::stop_token stop) {
  const result<void> got = co_await as_result(stoppable(std::move(stop), from.acquire()));
  co_return got.code();
}

}  // namespace

TEST_CASE("values cross a channel between loops, pools and plain threads, each once") {
  constexpr int many = 400;
  for (const std::size_t capacity : {0u, 1u, 7u}) {
    channel<std::unique_ptr<int>> c(capacity);
    std::vector<std::atomic<int>> seen(4 * many);
    pool workers(2);
    std::atomic<int> producing{4};
    const auto end_one = [&] {
      if (--producing == 0) c.close();
    };
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      local_loop loop;
      run(loop, produce(c, 0, many));
      end_one();
    });
    threads.emplace_back([&] {
      local_loop loop;
      sync_wait(loop, when_all(produce(c, many, many), consume(c, seen)));
    });
    threads.emplace_back([&] {
      local_loop loop;
      run(loop, on_pool(workers, produce(c, 2 * many, many)));
      end_one();
    });
    threads.emplace_back([&] {
      for (int i = 3 * many; i != 4 * many; ++i) {
        auto value = std::make_unique<int>(i);
        while (!c.try_send(std::move(value))) std::this_thread::yield();
      }
      end_one();
    });
    threads.emplace_back([&] {  // until the second producer has ended, by its last value
      while (seen[2 * many - 1] == 0) std::this_thread::yield();
      end_one();
    });
    local_loop loop;
    sync_wait(loop, when_all(consume(c, seen), on_pool(workers, consume(c, seen))));
    for (std::thread& t : threads) t.join();
    int wrong = 0;
    for (const auto& n : seen) wrong += n != 1;
    CHECK(wrong == 0);
  }
}

TEST_CASE("a mutex orders coroutines of several loops, and each resumes on its own thread") {
  mutex m;
  long sum = 0;
  std::vector<int> elsewhere(3);
  std::vector<std::thread> threads;
  for (int& mine : elsewhere) {
    threads.emplace_back([&] {
      local_loop loop;
      sync_wait(loop, when_all(add_up(m, sum, 500, this_thread(), mine),
                               add_up(m, sum, 500, this_thread(), mine)));
    });
  }
  pool workers(2);
  local_loop loop;
  int ignored = 0;
  run(loop, on_pool(workers, add_up(m, sum, 500, this_thread(), ignored)));
  for (std::thread& t : threads) t.join();
  CHECK(sum == 3500);
  CHECK(elsewhere == std::vector<int>{0, 0, 0});
}

TEST_CASE("a stop that races a send neither loses nor doubles the value", "[many]") {
  int received = 0, stopped = 0;
  for (int round = 0; round != 5000; ++round) {
    channel<int> c(1);
    std::stop_source stop;
    start_gate line(3);
    std::thread asker([&] {
      line.pass();
      stop.request_stop();
    });
    std::thread sender([&] {
      line.pass();
      c.try_send(7);
    });
    local_loop loop;
    const ending end = run(loop, receive_with(c, stop.get_token(), line));
    asker.join();
    sender.join();
    const std::optional<int> left = c.try_receive();
    REQUIRE(((end.how == errc::ok && end.value == 7) || (end.how == errc::stopped && left == 7)));
    REQUIRE(end.value.has_value() != left.has_value());
    ++(end.value ? received : stopped);
  }
  CHECK(received + stopped == 5000);
}

TEST_CASE("a stop that races a receive: the value was sent exactly if it was received") {
  for (int round = 0; round != 300; ++round) {
    channel<int> c(0);
    std::stop_source stop;
    start_gate line(3);
    std::optional<int> got;
    std::thread asker([&] {
      line.pass();
      stop.request_stop();
    });
    std::thread receiver([&] {
      line.pass();
      for (int i = 0; i != 20 && !got; ++i) got = c.try_receive();
    });
    local_loop loop;
    auto body = [](channel<int>& to, std::stop_token token, start_gate& gate) -> task<errc> {
      gate.pass();
      const result<void> sent = co_await as_result(stoppable(std::move(token), to.send(1)));
      co_return sent.code();
    };
    const errc how = run(loop, body(c, stop.get_token(), line));
    asker.join();
    receiver.join();
    REQUIRE((how == errc::ok) == got.has_value());
  }
}

TEST_CASE("stops that race releases keep the number of permits") {
  for (int round = 0; round != 200; ++round) {
    semaphore s(0);
    std::vector<std::stop_source> stops(4);
    start_gate line(3);
    std::thread asker([&] {
      line.pass();
      for (std::stop_source& each : stops) each.request_stop();
    });
    std::thread releaser([&] {
      line.pass();
      s.release();
      s.release();
    });
    local_loop loop;
    auto body = [](semaphore& of, std::vector<std::stop_source>& all,
                   start_gate& gate) -> task<std::vector<errc>> {
      std::vector<task<errc>> waits;
      for (const std::stop_source& each : all) waits.push_back(acquire_with(of, each.get_token()));
      gate.pass();
      co_return co_await when_all(std::move(waits));
    };
    const std::vector<errc> ends = run(loop, body(s, stops, line));
    asker.join();
    releaser.join();
    int permits = 0;
    for (const errc each : ends) permits += each == errc::ok;
    while (s.try_acquire()) ++permits;
    REQUIRE(permits == 2);
  }
}

TEST_CASE("a stop that races the destruction of an event ends the wait once") {
  for (int round = 0; round != 300; ++round) {
    auto e = std::make_unique<event>();
    std::stop_source stop;
    start_gate line(3);
    std::thread asker([&] {
      line.pass();
      stop.request_stop();
    });
    local_loop loop;
    auto body = [](event& of, std::stop_token token, start_gate& gate) -> task<errc> {
      scope fly;
      errc how = errc::ok;
      fly.start(as_result(stoppable(std::move(token), of.wait())),
                [&how](const result<void>& r) { how = r.code(); });
      gate.pass();  // the wait has begun
      co_await fly.join();
      co_return how;
    };
    std::thread owner([&] {
      line.pass();
      e.reset();
    });
    const errc how = run(loop, body(*e, stop.get_token(), line));
    asker.join();
    owner.join();
    REQUIRE((how == errc::stopped || how == errc::closed));
  }
}

TEST_CASE("a coroutine destroys its event as soon as a plain thread has set it") {
  for (int round = 0; round != 300; ++round) {
    std::atomic<event*> place{nullptr};
    std::thread setter([&] {
      while (!place) std::this_thread::yield();
      place.load()->set();
    });
    local_loop loop;
    run(loop, [](std::atomic<event*>& where) -> task<void> {
      auto e = std::make_unique<event>();
      where = e.get();
      co_await e->wait();
    }(place));
    setter.join();
  }
}

TEST_CASE("a permit travels around loops in several threads") {
  constexpr int rounds = 300;
  std::vector<std::unique_ptr<semaphore>> ring;
  for (int i = 0; i != 3; ++i) ring.push_back(std::make_unique<semaphore>(i == 0 ? 1 : 0));
  int laps = 0;  // guarded by the permit
  auto body = [](semaphore& from, semaphore& to, int& count) -> task<void> {
    for (int i = 0; i != rounds; ++i) {
      co_await from.acquire();
      ++count;
      to.release();
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i != 3; ++i) {
    threads.emplace_back([&, i] {
      local_loop loop;
      run(loop, body(*ring[i], *ring[(i + 1) % 3], laps));
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(laps == 3 * rounds);
  CHECK(ring[0]->try_acquire());
}
