// SPDX-License-Identifier: Apache-2.0
// Senders and schedulers of weft, and senders awaited in tasks.

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>

#include <weft/coro/local_loop.hpp>
#include <weft/coro/pool.hpp>
#include <weft/interop/execution.hpp>

#include "support/catch.hpp"
#include "unit/coro/this_thread.hpp"
#include "unit/interop/sender_driver.hpp"
#include "unit/interop/to_self.hpp"

using namespace weft;
using namespace weft::test;
using namespace std::chrono_literals;

namespace {

using sender_ends = sender_end<void>::kind;

errc sender_kind_of(const std::exception_ptr& e) {
  try {
    if (e) std::rethrow_exception(e);
  } catch (const error& x) {
    return x.kind();
  } catch (...) {
    return errc::system;
  }
  return errc::ok;
}

task<int> sender_task_value(to_self& w) {
  co_await w.recv();
  co_return w.value() + 1;
}
task<void> sender_task_waits(to_self& w) { co_await w.recv(tag{50}); }
task<void> sender_task_throws() {
  co_await sleep_for(1us);
  throw std::runtime_error("as asked");
}

task<std::string> sender_inline_ends() {
  const auto value = inline_sender{[](auto&& r) noexcept { std::move(r).set_value(4, 'x'); }};
  const auto [n, c] = co_await as_awaitable(value);
  std::string all = std::to_string(n) + c;
  try {
    co_await as_awaitable(inline_sender{[](auto&& r) noexcept { std::move(r).set_error(7); }});
  } catch (int e) {
    all += std::to_string(e);
  }
  try {
    co_await as_awaitable(inline_sender{[](auto&& r) noexcept { std::move(r).set_stopped(); }});
  } catch (const error& e) {
    all += e.kind() == errc::stopped ? " stopped" : " ?";
  }
  co_return all;
}

task<void> sender_never() { co_await as_awaitable(never_sender{}); }
task<bool> sender_never_within() {
  const auto r = co_await as_result(within(1ms, sender_never()));
  co_return r.code() == errc::timed_out;
}

task<bool> sender_through_pool(to_self& w, pool& where) {
  const std::thread::id home = this_thread();
  co_await w.send(5);
  // A request, then a scheduler, awaited as senders: the task resumes at home each time.
  const received got = co_await as_awaitable(as_sender(w.recv()));
  const bool at_home = this_thread() == home;
  co_await as_awaitable(scheduler_of(where).schedule());
  co_return at_home&& got.size == 8 && this_thread() == home;
}

}  // namespace

TEST_CASE("as_sender: a request completes its receiver once, with its value") {
  to_self w;
  sender_end<received> got;
  sender_end<void> sent;
  auto receive = as_sender(w.recv()).connect(sender_recorder(got));
  auto send = as_sender(w.send(3)).connect(sender_recorder(sent));
  receive.start();
  send.start();
  run(w.ctx, w.all_came());
  CHECK(got.wait() == sender_end<received>::kind::value);
  CHECK(got.value->size == 8);
  CHECK(sent.wait() == sender_ends::value);
  CHECK(got.ends() + sent.ends() == 2);
  CHECK(w.value() == 3);
}

TEST_CASE("as_sender: an error is an exception_ptr with weft's text, and a stop is set_stopped") {
  to_self w;
  sender_end<void> failed;
  auto bad = as_sender(endpoint().send(const_buffer{}, tag{1})).connect(sender_recorder(failed));
  bad.start();
  run(w.ctx, w.all_came());
  CHECK(failed.wait() == sender_ends::error);
  CHECK(sender_kind_of(failed.why()) == errc::invalid_argument);

  sender_end<received> stopped, before;
  auto op = as_sender(w.recv()).connect(sender_recorder(stopped));
  op.start();
  stopped.stop.request_stop();
  before.stop.request_stop();
  auto late = as_sender(w.recv()).connect(sender_recorder(before));
  late.start();
  run(w.ctx, w.all_came());
  CHECK(stopped.wait() == sender_end<received>::kind::stopped);
  CHECK(before.wait() == sender_end<received>::kind::stopped);
  CHECK(stopped.ends() + before.ends() == 2);
}

TEST_CASE("as_sender: stops from another thread while messages come") {
  to_self w;
  int values = 0, stops = 0;
  for (int i = 0; i != 200; ++i) {
    sender_end<received> got;
    auto op = as_sender(w.recv()).connect(sender_recorder(got));
    op.start();
    std::thread other([&] { got.stop.request_stop(); });
    run(w.ctx, [](to_self& s, int n) -> task<void> { co_await s.send(n); }(w, i));
    other.join();
    run(w.ctx, w.all_came());
    const auto how = got.wait();
    CHECK(got.ends() == 1);
    if (how == sender_end<received>::kind::value) {
      ++values;
      continue;
    }
    ++stops;
    // The message is still there, unless the stop came after the match.
    (void)w.me.try_claim(tag{1});
    std::array<std::byte, 8> rest{};
    if (w.me.try_probe(tag{1}))
      run(w.ctx, [](to_self& s, std::span<std::byte> b) -> task<void> {
        co_await s.me.recv(b, tag{1});
      }(w, rest));
  }
  CHECK(values + stops == 200);
}

TEST_CASE("as_sender: a task has its value, its exception, and the stop token of the receiver") {
  to_self w;
  sender_end<int> value;
  sender_end<void> thrown, stopped;
  auto a = as_sender(w.ctx, sender_task_value(w)).connect(sender_recorder(value));
  auto b = as_sender(w.ctx, sender_task_throws()).connect(sender_recorder(thrown));
  auto c = as_sender(w.ctx, sender_task_waits(w)).connect(sender_recorder(stopped));
  a.start();
  b.start();
  c.start();
  stopped.stop.request_stop();
  run(w.ctx, [](to_self& s) -> task<void> { co_await s.send(8); }(w));
  while (value.ends() + thrown.ends() + stopped.ends() != 3) run(w.ctx, sleep_for(1us));
  CHECK(value.wait() == sender_end<int>::kind::value);
  CHECK(value.value == 9);
  CHECK(thrown.wait() == sender_ends::error);
  CHECK(stopped.wait() == sender_ends::stopped);
}

TEST_CASE("as_sender: a request in flight when its context ends completes with closed") {
  sender_end<received> got;
  using state = decltype(as_sender(std::declval<recv_request>())
                             .connect(std::declval<sender_recorder<received>>()));
  std::unique_ptr<state> op;
  {
    to_self w;
    op.reset(new state(as_sender(w.recv()).connect(sender_recorder(got))));
    op->start();
  }
  CHECK(got.wait() == sender_end<received>::kind::error);
  CHECK(sender_kind_of(got.why()) == errc::closed);
}

TEST_CASE("as_sender: inside another sender, the stop token passes through") {
  to_self w;
  sender_end<int> sum, stopped;
  const auto size = [](const received& r) { return static_cast<int>(r.size) + 1; };
  auto op = then<int>(as_sender(w.recv()), size).connect(sender_recorder(sum));
  op.start();
  run(w.ctx, [](to_self& s) -> task<void> { co_await s.send(8); }(w));
  run(w.ctx, w.all_came());
  CHECK(sum.wait() == sender_end<int>::kind::value);
  CHECK(sum.value == 9);
  auto other = then<int>(as_sender(w.recv()), size).connect(sender_recorder(stopped));
  other.start();
  stopped.stop.request_stop();
  run(w.ctx, w.all_came());
  CHECK(stopped.wait() == sender_end<int>::kind::stopped);
}

TEST_CASE("scheduler_of: a context's schedule completes inside run(), a pool's on its threads") {
  to_self w;
  pool workers(1);
  CHECK(scheduler_of(w.ctx) == scheduler_of(home(w.ctx)));
  CHECK_FALSE(scheduler_of(w.ctx) == scheduler_of(workers));
  const auto s = scheduler_of(w.ctx).schedule();
  CHECK(s.get_env().query(get_completion_scheduler_t<detail::exec::set_value_t>()) ==
        scheduler_of(w.ctx));

  sender_end<std::thread::id> at_home, on_pool;
  auto here =
      then<std::thread::id>(s, [] { return this_thread(); }).connect(sender_recorder(at_home));
  auto there = then<std::thread::id>(scheduler_of(workers).schedule(), [] {
                 return this_thread();
               }).connect(sender_recorder(on_pool));
  here.start();
  there.start();
  CHECK(at_home.ends() == 0);  // not inside start
  run(w.ctx, w.all_came());
  at_home.wait();
  on_pool.wait();
  CHECK(at_home.value == this_thread());
  CHECK(on_pool.value != this_thread());

  sender_end<void> stopped;
  stopped.stop.request_stop();
  auto late = scheduler_of(w.ctx).schedule().connect(sender_recorder(stopped));
  late.start();
  run(w.ctx, w.all_came());
  CHECK(stopped.wait() == sender_ends::stopped);
}

TEST_CASE("as_awaitable: a sender that completes inside start, by value, error and stop") {
  local_loop loop;
  CHECK(run(loop, sender_inline_ends()) == "4x7 stopped");
}

TEST_CASE("as_awaitable: the chain's stop token is that of the sender") {
  context ctx;
  CHECK(run(ctx, sender_never_within()));
}

TEST_CASE("as_awaitable: the task resumes on its chain's executor") {
  to_self w;
  pool workers(1);
  CHECK(run(w.ctx, sender_through_pool(w, workers)));
}
