// SPDX-License-Identifier: Apache-2.0
// Operations that are under way when a coroutine or a context ends.

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

task<void> leave_by_exception(endpoint self) {
  std::array<std::byte, 8> early{}, late{}, data{};
  scope fly;
  fly.start(self.recv(late, tag{1}));
  fly.start(self.send(data, tag{2}));
  fly.start(self.send(data, tag{1}));
  // Both receives end in one pass: when this coroutine goes on, the other receive has ended and is
  // not completed yet.
  co_await self.recv(early, tag{2});
  throw std::runtime_error("out");
}

task<void> serve(context& ctx, std::vector<errc>& ends) {
  listener listening = co_await ctx.listen("any://127.0.0.1:0");
  try {
    co_await listening.accept();
  } catch (const error& e) {
    ends.push_back(e.kind());
  }
  try {
    co_await ctx.connect(listening.address());
  } catch (const error& e) {
    ends.push_back(e.kind());
  }
}

task<void> hold_a_listener(context& ctx, std::vector<errc>& ends) {
  const listener listening = co_await ctx.listen("any://127.0.0.1:0");
  std::array<std::byte, 8> in{};
  try {
    co_await ctx.recv(in, any_tag);
  } catch (const error& e) {
    ends.push_back(e.kind());
  }
}

task<void> nothing() { co_return; }

task<std::string> accept_and_receive(listener& listening, errc& how) {
  const endpoint peer = co_await listening.accept();
  result<int> heard = co_await as_result(peer.recv_value<int>(tag{1}));
  how = heard.code();
  try {
    co_return std::to_string(heard.value());
  } catch (const error& e) {
    co_return e.what();
  }
}

options alone() {
  options o = options::from_environment();
  o.standalone = true;
  return o;
}

/// What a context learns of another one that connects to it and ends.
std::string last_words(bool by_exception, errc& how) {
  context listens(alone());
  listener listening = run(listens, listens.listen("any://127.0.0.1:0"));
  std::thread other([&] {
    try {
      context connects(alone());
      const endpoint peer = run(connects, connects.connect(listening.address()));
      if (by_exception) throw std::runtime_error("out");
    } catch (const std::runtime_error&) {
    }
  });
  std::string words = run(listens, accept_and_receive(listening, how));
  other.join();
  return words;
}

/// The error of `x`; ok if it succeeded.
template <class X>
task<errc> end_of(X x) {
  const result<awaited_t<X>> ended = co_await as_result(std::move(x));
  co_return ended.code();
}

task<void> sleep_twice(context& ctx, std::vector<errc>& ends) {
  ends.push_back(co_await end_of(sleep_for(1h)));
  ends.push_back(co_await end_of(sleep_for(1h)));
  std::array<std::byte, 8> in{};
  ends.push_back(co_await end_of(within(1h, ctx.recv(in, any_tag))));
}

/// Keeps a context busy from a thread of a pool, while the context ends and afterwards.
task<void> live_on(pool& p, context& ctx, std::atomic<bool>& there, std::vector<errc>& ends) {
  co_await resume_on(p);
  there = true;
  ends.push_back(co_await end_of(sleep_for(1h)));
  std::array<std::byte, 8> data{};
  for (int i = 0; i < 100; ++i) {
    ends.push_back(co_await end_of(ctx.recv(data, any_tag)));
    ends.push_back(co_await end_of(ctx.peer(7).send(data, tag{1})));
    ends.push_back(co_await end_of(ctx.peer(7).recv(data, tag{1})));
    ends.push_back(co_await end_of(ctx.probe(any_tag)));
    ends.push_back(co_await end_of(sleep_for(1h)));
    ends.push_back(co_await end_of(ctx.listen("any://127.0.0.1:0")));
    ends.push_back(co_await end_of(ctx.connect("unix://nobody")));
    ends.push_back(co_await end_of(ctx.meet("any://127.0.0.1:0", "unix://nobody", "x")));
  }
  co_await resume_home();
  ends.push_back(co_await end_of(sleep_for(1h)));
}

task<void> wait_for(std::atomic<bool>& flag) {
  while (!flag) co_await sleep_for(1ms);
}

task<void> let_in(listener::connection_request v, std::vector<errc>& ends) {
  co_await end_of(sleep_for(1h));
  ends.push_back(co_await end_of(v.accept()));
}

task<void> keep_a_listener(context& ctx, std::string& address, std::atomic<bool>& open,
                           std::atomic<bool>& came, std::vector<errc>& ends) {
  listener listening = co_await ctx.listen("any://127.0.0.1:0");
  address = listening.address();
  open = true;
  listener::connection_request v = co_await listening.next();
  came = true;
  co_await let_in(std::move(v), ends);
}

task<void> request_connection(context& ctx, std::string address, std::vector<errc>& ends) {
  ends.push_back(co_await end_of(ctx.connect(std::move(address))));
}

}  // namespace

TEST_CASE("a scope that is left by an exception waits for what has ended in the same pass") {
  context ctx;
  CHECK_THROWS_AS(run(ctx, leave_by_exception(ctx.world()[0])), std::runtime_error);
}

TEST_CASE("a context that an exception ends is lost to its peers, and otherwise has left") {
  errc how = errc::ok;
  CHECK_THAT(last_words(true, how), weft::tests::contains("its program failed"));
  CHECK(how == errc::peer_lost);
  CHECK_THAT(last_words(false, how), weft::tests::contains("it has left"));
  CHECK(how == errc::closed);
}

TEST_CASE("the end of a context ends coroutines that wait at a listener, and what they do next") {
  std::vector<errc> ends;
  {
    context ctx;
    spawn(ctx, serve(ctx, ends));
    run(ctx, nothing());
  }
  CHECK(ends == std::vector{errc::closed, errc::closed});
}

TEST_CASE("a listener may be dropped while its context ends") {
  std::vector<errc> ends;
  {
    context ctx;
    spawn(ctx, hold_a_listener(ctx, ends));
    run(ctx, nothing());
  }
  CHECK(ends == std::vector{errc::closed});
}

TEST_CASE("timers end with their context, those that wait and those that come") {
  std::vector<errc> ends;
  {
    context ctx;
    spawn(ctx, sleep_twice(ctx, ends));
    run(ctx, nothing());
  }
  CHECK(ends == std::vector{errc::closed, errc::closed, errc::closed});
}

TEST_CASE("the end of a context waits for tasks on a pool, which find everything closed") {
  pool workers(2);
  std::vector<errc> ends;
  {
    context ctx;
    std::atomic<bool> there = false;
    spawn(ctx, live_on(workers, ctx, there, ends));
    run(ctx, wait_for(there));
  }
  CHECK(ends == std::vector(802, errc::closed));
}

TEST_CASE("a requester that is accepted while the context ends") {
  std::vector<errc> mine, theirs;
  {
    context visiting;
    {
      context ctx;
      std::string address;
      std::atomic<bool> open = false, came = false;
      spawn(ctx, keep_a_listener(ctx, address, open, came, mine));
      run(ctx, wait_for(open));
      spawn(visiting, request_connection(visiting, address, theirs));
      run(visiting, nothing());
      run(ctx, wait_for(came));
    }
    CHECK(mine == std::vector{errc::closed});
  }
}
