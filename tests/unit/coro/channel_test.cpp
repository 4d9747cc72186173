// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <weft/coro/as_result.hpp>
#include <weft/coro/channel.hpp>
#include <weft/coro/time.hpp>
#include <weft/coro/when.hpp>

#include "manual.hpp"
#include "support/allocations.hpp"
#include "support/skip.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

task<void> send_range(channel<int>& to, int from, int below) {
  for (int i = from; i != below; ++i) co_await to.send(i);
}

task<void> receive_all(channel<int>& from, std::vector<int>& got) {
  while (std::optional<int> value = co_await from.receive()) got.push_back(*value);
}

task<void> receive_one(channel<int>& from, std::vector<int>& got) {
  std::optional<int> value = co_await from.receive();
  got.push_back(value ? *value : -1);
}

/// Counts its copies that hold a value.
class counted {
 public:
  explicit counted(int& alive) noexcept : alive_(&alive) { ++alive; }
  counted(counted&& other) noexcept : alive_(std::exchange(other.alive_, nullptr)) {}
  counted& operator=(counted&&) = delete;
  ~counted() {
    if (alive_) --*alive_;
  }

 private:
  int* alive_;
};

}  // namespace

TEST_CASE("a channel keeps the order, and its capacity is the limit") {
  manual::loop loop;
  channel<int> c(3);
  CHECK(c.capacity() == 3);
  manual::spawned sender(loop, send_range(c, 0, 10));
  loop.run();
  CHECK(c.size() == 3);
  CHECK_FALSE(sender.ended());
  std::vector<int> got;
  manual::spawned receiver(loop, receive_all(c, got));
  loop.run();
  CHECK(sender.ended());
  CHECK_FALSE(receiver.ended());
  CHECK(got == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  c.close();
  loop.run();
  receiver.get();
}

TEST_CASE("a channel without capacity hands each value from a sender to a receiver") {
  manual::loop loop;
  channel<int> c(0);
  CHECK_FALSE(c.try_send(1));
  std::vector<int> got;
  manual::spawned early(loop, receive_one(c, got));
  CHECK(c.try_send(1));
  loop.run();
  CHECK(got == std::vector<int>{1});
  manual::spawned sender(loop, send_range(c, 2, 5));
  loop.run();
  CHECK(c.size() == 0);
  CHECK(c.try_receive() == 2);
  CHECK_FALSE(c.try_receive());  // the sender has not gone on yet
  manual::spawned receiver(loop, receive_all(c, got));
  loop.run();
  CHECK(sender.ended());
  CHECK(got == std::vector<int>{1, 3, 4});
  c.close();
  loop.run();
  CHECK(receiver.ended());
}

TEST_CASE("receivers are served in the order in which they came, and so are senders") {
  manual::loop loop;
  channel<int> c(1);
  std::vector<int> one, two;
  manual::spawned first(loop, receive_one(c, one)), second(loop, receive_one(c, two));
  CHECK(c.try_send(1));
  CHECK(c.try_send(2));
  CHECK(c.try_send(3));  // both receivers have theirs: this one is in the channel
  CHECK_FALSE(c.try_send(4));
  loop.run();
  CHECK(one == std::vector<int>{1});
  CHECK(two == std::vector<int>{2});
  manual::spawned x(loop, send_range(c, 10, 12)), y(loop, send_range(c, 20, 22));
  std::vector<int> got;
  for (int i = 0; i != 5; ++i) {
    std::optional<int> value = c.try_receive();
    REQUIRE(value);
    got.push_back(*value);
    loop.run();
  }
  CHECK(got == std::vector<int>{3, 10, 20, 11, 21});
}

TEST_CASE("close ends waiting receives, leaves what is in the channel, and fails sends") {
  manual::loop loop;
  channel<int> c(2);
  manual::spawned sender(loop, send_range(c, 0, 3));  // the third one waits
  loop.run();
  c.close();
  c.close();
  CHECK(c.is_closed());
  loop.run();
  CHECK(sender.failure() == errc::closed);
  CHECK_FALSE(c.try_send(7));
  manual::spawned late(loop, send_range(c, 7, 8));
  CHECK(late.failure() == errc::closed);
  CHECK_THROWS_WITH(late.get(), weft::tests::contains("a channel was closed"));
  std::vector<int> got;
  manual::spawned receiver(loop, receive_all(c, got));
  CHECK(receiver.ended());
  CHECK(got == std::vector<int>{0, 1});
  CHECK_FALSE(c.try_receive());

  channel<int> empty(2);
  manual::spawned waiting(loop, receive_one(empty, got));
  empty.close();
  loop.run();
  waiting.get();
  CHECK(got.back() == -1);
}

TEST_CASE("a stopped receive takes no value, and one that was served keeps it") {
  manual::loop loop;
  channel<int> c(1);
  std::vector<int> got;
  std::stop_source stop, late;
  manual::spawned stopped(loop, receive_one(c, got), stop.get_token());
  manual::spawned served(loop, receive_one(c, got), late.get_token());
  stop.request_stop();
  CHECK(c.try_send(1));
  late.request_stop();
  loop.run();
  CHECK(stopped.failure() == errc::stopped);
  served.get();
  CHECK(got == std::vector<int>{1});
  CHECK(c.try_send(2));
  manual::spawned never(loop, receive_one(c, got), stop.get_token());
  CHECK(never.failure() == errc::stopped);
  CHECK(c.try_receive() == 2);
}

TEST_CASE("a stopped send has not sent") {
  manual::loop loop;
  channel<int> c(1);
  std::stop_source stop;
  manual::spawned sender(loop, send_range(c, 1, 3), stop.get_token());
  stop.request_stop();
  loop.run();
  CHECK(sender.failure() == errc::stopped);
  CHECK(c.try_receive() == 1);
  CHECK_FALSE(c.try_receive());
}

TEST_CASE("channels work in within, when_any and as_result") {
  manual::loop loop;
  channel<int> full(1), empty(1);
  CHECK(full.try_send(0));
  auto body = [](channel<int>& f, channel<int>& e) -> task<void> {
    const result<void> send = co_await as_result(within(1ms, f.send(1)));
    CHECK(send.code() == errc::timed_out);
    const result<std::optional<int>> receive = co_await as_result(within(1ms, e.receive()));
    CHECK(receive.code() == errc::timed_out);
    auto first = co_await when_any(e.receive(), f.receive(), sleep_for(1h));
    REQUIRE(first.index() == 1);
    CHECK(std::get<1>(first) == 0);
  };
  manual::spawned all(loop, body(full, empty));
  loop.advance(1ms);
  loop.advance(1ms);
  all.get();
  CHECK(loop.waiting_timers() == 0);
  CHECK(full.size() == 0);
}

TEST_CASE("a channel of move-only values loses none and keeps none") {
  manual::loop loop;
  int alive = 0;
  {
    channel<counted> c(2);
    auto body = [](channel<counted>& to, int& count) -> task<void> {
      for (int i = 0; i != 3; ++i) co_await to.send(counted(count));
      counted named(count);
      co_await to.send(std::move(named));
    };
    manual::spawned sender(loop, body(c, alive));
    loop.run();
    CHECK(alive == 3);  // two in the channel, one with the sender
    {
      std::optional<counted> one = c.try_receive();
      CHECK(one.has_value());
    }
    loop.run();
    CHECK(alive == 3);  // one has gone, and the last one waits
    c.close();
    loop.run();
    CHECK(sender.failure() == errc::closed);
    CHECK(alive == 2);
  }
  CHECK(alive == 0);
}

TEST_CASE("try_send leaves the value with the caller when there is no room") {
  channel<std::unique_ptr<std::string>> c(1);
  auto one = std::make_unique<std::string>("one"), two = std::make_unique<std::string>("two");
  CHECK(c.try_send(std::move(one)));
  CHECK_FALSE(c.try_send(std::move(two)));
  CHECK_FALSE(one);
  REQUIRE(two);
  CHECK(*two == "two");
}

TEST_CASE("a channel that is destroyed ends its waits") {
  manual::loop loop;
  std::vector<int> got;
  auto empty = std::make_unique<channel<int>>(1);
  manual::spawned receiver(loop, receive_one(*empty, got));
  empty.reset();
  auto full = std::make_unique<channel<int>>(0);
  std::stop_source stop;
  manual::spawned sender(loop, send_range(*full, 0, 1), stop.get_token());
  full.reset();
  stop.request_stop();
  loop.run();
  receiver.get();
  CHECK(got == std::vector<int>{-1});
  CHECK(sender.failure() == errc::closed);
}

TEST_CASE("after its construction a channel allocates nothing") {
  if (!tests::counts_allocations()) return tests::skip("operator new is the sanitizer's");
  manual::loop loop;
  channel<int> c(4);
  std::vector<int> got;
  got.reserve(1000);
  std::stop_source stop;
  manual::spawned receiver(loop, receive_all(c, got), stop.get_token());
  const auto frame = tests::allocations();
  manual::spawned sender(loop, send_range(c, 0, 1000), stop.get_token());
  loop.run();
  CHECK(tests::allocations() - frame <= 2);  // the sender's own frames
  CHECK(got.size() == 1000);
  c.close();
  loop.run();
  CHECK(receiver.ended());
}
