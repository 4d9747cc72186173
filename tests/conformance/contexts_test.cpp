// SPDX-License-Identifier: Apache-2.0
// Contexts and endpoints: their ends, several of them, several threads.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "conversation.hpp"
#include "one_thread.hpp"
#include "support/catch.hpp"

using namespace conformance;
using namespace weft;

namespace {

task<void> close_after_sending(context&, endpoint other) {
  const bytes out = pattern(30'000, 1);
  co_await other.send(out, tag{1});
  other.close();
  expect(co_await outcome(other.send(out, tag{1})) == errc::closed, "a send after close");
  co_await other.closed();
  bytes in(10);
  expect(co_await outcome(other.recv(in, tag{2})) == errc::closed, "a receive after close");
}
task<void> notice_close(context&, endpoint other) {
  bytes in(30'000);
  co_await other.closed();
  co_await other.recv(in, tag{1});
  expect(in == pattern(30'000, 1), "what was sent before the close arrives");
  expect(co_await outcome(other.recv(in, tag{1})) == errc::closed, "nothing follows it");
  expect(co_await outcome(other.send(in, tag{1})) == errc::closed, "nothing goes back");
}

task<void> close_in_silence(context&, endpoint other) {
  other.close();
  co_await other.closed();
}
task<void> wait_for_close(context&, endpoint other) { co_await other.closed(); }

task<void> close_while_it_comes(context&, endpoint other) {
  bytes in(3'000'000);
  errc end = errc::unsupported;
  scope work;
  work.start(outcome(other.recv(in, tag{1})), [&](errc e) { end = e; });
  co_await other.recv(mutable_buffer{}, tag{2});  // after the other side has begun
  other.close();
  co_await other.closed();
  co_await work.join();
  expect(end == errc::ok || end == errc::closed, "a receive ends with the peer's good-bye");
}
task<void> send_to_who_closes(context&, endpoint other) {
  const bytes out = pattern(3'000'000, 1);
  errc end = errc::unsupported;
  scope work;
  work.start(outcome(other.send(out, tag{1})), [&](errc e) { end = e; });
  co_await outcome(other.send(const_buffer{}, tag{2}));
  co_await other.closed();
  co_await work.join();
  expect(end == errc::ok || end == errc::closed, "a send ends with the peer's good-bye");
}

task<void> leave_at_once(context&, endpoint other) { co_await other.send(const_buffer{}, tag{1}); }
task<void> be_left(context&, endpoint other) {
  co_await other.recv(mutable_buffer{}, tag{1});
  bytes in(10);
  const errc e = co_await outcome(other.recv(in, tag{2}));
  expect(e == errc::closed, "a peer whose context has ended has closed");
}

// One end computes until the other one, in the same process, has reached a point.
std::atomic<bool> got_there{false};

void compute_until_the_other_got_there() {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!got_there && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
  expect(got_there, "messages move while the application computes");
}

task<void> post_receive_and_compute(context&, endpoint other) {
  bytes in(3'000'000);
  scope work;
  work.start(other.recv(in, tag{1}));
  co_await other.send(const_buffer{}, tag{2});
  compute_until_the_other_got_there();
  co_await work.join();
  expect(in == pattern(in.size(), 1), "and arrive whole");
}
task<void> send_to_who_computes(context&, endpoint other) {
  const bytes out = pattern(3'000'000, 1);
  co_await other.recv(mutable_buffer{}, tag{2});
  co_await other.send(out, tag{1});
  got_there = true;
}

task<void> receive_what_came_before_and_compute(context&, endpoint other) {
  bytes in(3'000'000);
  co_await other.recv(mutable_buffer{}, tag{2});  // after the other side has begun
  scope work;
  work.start(other.recv(in, tag{1}));
  compute_until_the_other_got_there();
  co_await work.join();
  expect(in == pattern(in.size(), 1), "and arrive whole");
}
task<void> send_before(context&, endpoint other) {
  const bytes out = pattern(3'000'000, 1);
  scope work;
  work.start(other.send(out, tag{1}));
  co_await other.send(const_buffer{}, tag{2});
  co_await work.join();
  got_there = true;
}

task<void> send_and_compute(context&, endpoint other) {
  const bytes out = pattern(3'000'000, 1);
  scope work;
  for (std::uint64_t i = 0; i != 20; ++i)
    work.start(other.send(const_buffer(out).first(i), tag{i}));
  work.start(other.send(out, tag{20}));
  compute_until_the_other_got_there();
  co_await work.join();
}
task<void> receive_from_who_computes(context&, endpoint other) {
  bytes in(3'000'000);
  for (std::uint64_t i = 0; i <= 20; ++i) co_await other.recv(in, tag{i});
  got_there = true;
}

task<void> remember(std::vector<errc>& ends, recv_request r) {
  ends.push_back(co_await outcome(r));
}

task<void> echo(endpoint other, tag t) {
  bytes in(100'000);
  for (int i = 0; i < 30; ++i) {
    const received r = co_await other.recv(in, t);
    co_await other.send(mutable_buffer(in).first(r.size), tag{t.value + 1});
  }
}

// After bursts a transport may expect a further one, and wait for its rest.
constexpr std::uint64_t bursts = 10, in_a_burst = 20;

task<void> send_bursts_and_then_one(context&, endpoint other) {
  const bytes out = pattern(60, 1);
  for (std::uint64_t i = 0; i != bursts; ++i) {
    scope fly;
    for (std::uint64_t n = 0; n != in_a_burst; ++n) fly.start(other.send(out, tag{1}));
    co_await fly.join();
    co_await other.recv(mutable_buffer{}, tag{2});
  }
  co_await other.send(out, tag{3});
  compute_until_the_other_got_there();
}
task<void> receive_bursts_and_then_one(context&, endpoint other) {
  bytes in(60);
  for (std::uint64_t i = 0; i != bursts; ++i) {
    for (std::uint64_t n = 0; n != in_a_burst; ++n) co_await other.recv(in, tag{1});
    co_await other.send(const_buffer{}, tag{2});
  }
  co_await other.recv(in, tag{3});
  got_there = true;
}

// Both threads inside run() compute; coroutines of both contexts communicate on other threads.
std::atomic<int> still_talking{0};

task<void> talk_first(endpoint other, one_thread& there) {
  co_await resume_on(there);
  for (std::uint64_t i = 0; i != 20; ++i) {
    co_await other.send(const_buffer{}, tag{1});
    co_await other.recv(mutable_buffer{}, tag{2});
  }
  --still_talking;
}
task<void> talk_second(endpoint other, one_thread& there) {
  co_await resume_on(there);
  for (std::uint64_t i = 0; i != 20; ++i) {
    co_await other.recv(mutable_buffer{}, tag{1});
    co_await other.send(const_buffer{}, tag{2});
  }
  --still_talking;
}

task<void> compute_beside(task<void> talk) {
  scope work;
  work.start(std::move(talk));
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (still_talking != 0 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
  expect(still_talking == 0, "small messages reach coroutines that live elsewhere");
  co_await work.join();
}
task<void> compute_beside_first(context&, endpoint other) {
  one_thread there;
  co_await compute_beside(talk_first(other, there));
}
task<void> compute_beside_second(context&, endpoint other) {
  one_thread there;
  co_await compute_beside(talk_second(other, there));
}

}  // namespace

TEST_CASE("contexts: close, and what was sent before arrives") {
  const setting how = every_setting();
  if (how.where == place::same_context) return;  // there the two ends are one endpoint
  CAPTURE(how);
  CHECK_NOTHROW(converse(how, &close_after_sending, &notice_close));
}

TEST_CASE("contexts: close before anything was said") {
  const setting how = every_setting();
  if (how.where == place::same_context) return;
  CAPTURE(how);
  CHECK_NOTHROW(converse(how, &close_in_silence, &wait_for_close));
}

TEST_CASE("contexts: close while a long message comes") {
  const setting how = every_setting();
  if (how.where == place::same_context) return;
  CAPTURE(how);
  CHECK_NOTHROW(converse(how, &close_while_it_comes, &send_to_who_closes));
}

TEST_CASE("contexts: a peer that leaves in good order") {
  const setting how = every_setting();
  if (how.where == place::same_context) return;
  CAPTURE(how);
  CHECK_NOTHROW(converse(how, &leave_at_once, &be_left));
}

TEST_CASE("contexts: messages move while either end computes") {
  const setting how = every_setting();
  if (how.where != place::same_process || how.progress != progress_mode::dedicated) return;
  CAPTURE(how);
  got_there = false;
  CHECK_NOTHROW(converse(how, &post_receive_and_compute, &send_to_who_computes));
  got_there = false;
  CHECK_NOTHROW(converse(how, &receive_what_came_before_and_compute, &send_before));
  got_there = false;
  CHECK_NOTHROW(converse(how, &send_and_compute, &receive_from_who_computes));
  got_there = false;
  CHECK_NOTHROW(converse(how, &send_bursts_and_then_one, &receive_bursts_and_then_one));
}

TEST_CASE("contexts: coroutines elsewhere talk while both applications compute") {
  const setting how = every_setting();
  if (how.where != place::same_process || how.progress != progress_mode::dedicated) return;
  CAPTURE(how);
  still_talking = 2;
  CHECK_NOTHROW(converse(how, &compute_beside_first, &compute_beside_second));
}

TEST_CASE("contexts: what is pending when the context ends, ends with errc::closed") {
  const setting how = every_setting();
  CAPTURE(how);
  std::vector<errc> ends;
  bytes in(10);
  {
    context ctx = how.make_context();
    const endpoint self = ctx.world()[0];
    spawn(ctx, remember(ends, self.recv(in, tag{1})));
    spawn(ctx, remember(ends, ctx.recv(in, any_tag)));
    sync_wait(ctx, sleep_for(std::chrono::milliseconds(1)));  // both have begun
    CHECK(ends.empty());
  }
  CHECK(ends == std::vector<errc>{errc::closed, errc::closed});
}

TEST_CASE("contexts: several threads, each with its own sync_wait") {
  const setting how = every_setting();
  if (how.where != place::same_context) return;
  CAPTURE(how);
  context ctx = how.make_context();
  const endpoint self = ctx.world()[0];
  std::atomic<int> well{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 100; ++i) {
        const bytes out = pattern(i * 1000, t * 1000 + i);
        bytes in(out.size());
        std::thread sender([&] { sync_wait(ctx, self.send(out, tag{t})); });
        sync_wait(ctx, self.recv(in, tag{t}));
        sender.join();
        well += in == out;
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(well == 400);
}

TEST_CASE("contexts: several in one process do not know of each other") {
  context a, b, c;
  const auto talk = [](context& ctx, std::uint64_t seed) {
    const endpoint self = ctx.world()[0];
    bytes in(1000);
    const bytes out = pattern(1000, seed);
    spawn(ctx, [](endpoint e, const bytes& data) -> task<void> {
      co_await e.send(data, tag{1});
    }(self, out));
    sync_wait(ctx, self.recv(in, tag{1}));
    return in == out;
  };
  CHECK(talk(a, 1));
  CHECK(talk(b, 2));
  CHECK(talk(c, 3));
  for (const context* ctx : {&a, &b, &c}) CHECK(ctx->snapshot().messages_received == 1);
}

TEST_CASE("contexts: three of them in one process, each with the two others") {
  const std::string base = "unix://weft-three-" + std::to_string(::getpid()) + "-";
  std::atomic<int> well{0};
  std::vector<std::thread> threads;
  for (int self = 0; self < 3; ++self)
    threads.emplace_back([&, self] {
      context ctx;
      const auto main = [](context& here, std::string at, int me) -> task<bool> {
        const auto listening = [&](int of, int towards) {
          return at + std::to_string(of) + std::to_string(towards);
        };
        std::vector<endpoint> others;
        for (int i = 0; i < 3; ++i)
          if (i != me)
            others.push_back(co_await here.meet(listening(me, i), listening(i, me), "three"));
        scope work;
        for (const endpoint& other : others) work.start(echo(other, tag{10}));
        bool all = true;
        bytes in(100'000);
        for (std::size_t i = 0; i < 30; ++i)
          for (const endpoint& other : others) {
            const bytes out = pattern(i * 3000, i);
            co_await other.send(out, tag{10});
            const received r = co_await other.recv(in, tag{11});
            all = all && r.size == out.size() && std::equal(out.begin(), out.end(), in.begin());
          }
        co_await work.join();
        co_return all;
      };
      well += run(ctx, main(ctx, base, self));
    });
  for (std::thread& t : threads) t.join();
  CHECK(well == 3);
}
