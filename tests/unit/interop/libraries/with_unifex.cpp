// SPDX-License-Identifier: Apache-2.0
// weft's senders under libunifex (-DWEFT_UNIFEX=PREFIX where it is installed).
#define WEFT_USE_UNIFEX

#include <unifex/just.hpp>
#include <unifex/on.hpp>
#include <unifex/sync_wait.hpp>
#include <unifex/then.hpp>
#include <unifex/when_all.hpp>

#include <stdexcept>
#include <thread>

#include <weft/coro/pool.hpp>
#include <weft/interop/execution.hpp>

#include "support/catch.hpp"
#include "unit/coro/this_thread.hpp"
#include "unit/interop/libraries/runner.hpp"
#include "unit/interop/to_self.hpp"

using namespace weft;
using weft::test::runner;
using weft::test::to_self;

static_assert(unifex::sender<detail::request_sender<recv_request>>);
static_assert(unifex::sender<detail::task_sender<int>>);
static_assert(unifex::scheduler<detail::executor_scheduler>);

namespace {

task<int> unifex_next(int n) {
  co_return co_await as_awaitable(unifex::then(unifex::just(n), [](int v) { return v + 1; }));
}

}  // namespace

TEST_CASE("unifex: requests in then, awaited by sync_wait") {
  to_self w;
  const runner thread(w.ctx);
  unifex::sync_wait(as_sender(w.send(4)));
  const auto size =
      unifex::sync_wait(unifex::then(as_sender(w.recv()), [](received r) { return r.size; }));
  CHECK(size == 8U);
  CHECK(w.value() == 4);
}

TEST_CASE("unifex: a failure beside a receive stops it") {
  to_self w;
  const runner thread(w.ctx);
  auto fails = unifex::then(unifex::schedule(scheduler_of(w.ctx)),
                            [] { throw std::runtime_error("as asked"); });
  CHECK_THROWS_WITH(unifex::sync_wait(unifex::when_all(as_sender(w.recv()), std::move(fails))),
                    "as asked");
}

TEST_CASE("unifex: a task as a sender, and its errors") {
  to_self w;
  const runner thread(w.ctx);
  CHECK(unifex::sync_wait(as_sender(w.ctx, unifex_next(1))) == 2);
  CHECK_THROWS_AS(unifex::sync_wait(as_sender(endpoint().send(const_buffer{}, tag{1}))), error);
}

TEST_CASE("unifex: schedulers of a context and of a pool") {
  to_self w;
  const runner thread(w.ctx);
  pool workers(1);
  const auto where = [] { return this_thread(); };
  CHECK(unifex::sync_wait(unifex::then(unifex::schedule(scheduler_of(w.ctx)), where)) ==
        thread.id());
  const auto on_pool =
      unifex::sync_wait(unifex::then(unifex::schedule(scheduler_of(workers)), where));
  CHECK(on_pool != this_thread());
}
