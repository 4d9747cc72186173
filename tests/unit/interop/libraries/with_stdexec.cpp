// SPDX-License-Identifier: Apache-2.0
// weft's senders under stdexec (-DWEFT_STDEXEC=FOLDER with include/stdexec).
#define WEFT_USE_STDEXEC

#include <stdexec/execution.hpp>

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

static_assert(stdexec::sender<detail::request_sender<recv_request>>);
static_assert(stdexec::sender<detail::task_sender<int>>);
static_assert(stdexec::scheduler<detail::executor_scheduler>);

namespace {

task<int> stdexec_next(int n) {
  co_return co_await as_awaitable(stdexec::just(n) | stdexec::then([](int v) { return v + 1; }));
}
task<int> stdexec_on_pool(pool& p, std::thread::id& ran) {
  co_return co_await as_awaitable(stdexec::starts_on(scheduler_of(p), stdexec::just(1)) |
                                  stdexec::then([&ran](int v) {
                                    ran = this_thread();
                                    return v;
                                  }));
}

}  // namespace

TEST_CASE("stdexec: requests in when_all and then, awaited by sync_wait") {
  to_self w;
  const runner thread(w.ctx);
  auto [size] = stdexec::sync_wait(stdexec::when_all(as_sender(w.recv()), as_sender(w.send(4))) |
                                   stdexec::then([](const received& r) { return r.size; }))
                    .value();
  CHECK(size == 8);
  CHECK(w.value() == 4);
}

TEST_CASE("stdexec: a failure beside a receive stops it") {
  to_self w;
  const runner thread(w.ctx);
  const auto fails = stdexec::schedule(scheduler_of(w.ctx)) |
                     stdexec::then([] { throw std::runtime_error("as asked"); });
  CHECK_THROWS_WITH(stdexec::sync_wait(stdexec::when_all(as_sender(w.recv()), fails)), "as asked");
}

TEST_CASE("stdexec: a task as a sender, and its errors") {
  to_self w;
  const runner thread(w.ctx);
  auto [n] = stdexec::sync_wait(as_sender(w.ctx, stdexec_next(1))).value();
  CHECK(n == 2);
  CHECK_THROWS_AS(stdexec::sync_wait(as_sender(endpoint().send(const_buffer{}, tag{1}))), error);
}

TEST_CASE("stdexec: schedulers of a context and of a pool") {
  to_self w;
  const runner thread(w.ctx);
  pool workers(1);
  const auto where = [] { return this_thread(); };
  auto [at_home] = stdexec::sync_wait(stdexec::starts_on(scheduler_of(w.ctx), stdexec::just()) |
                                      stdexec::then(where))
                       .value();
  CHECK(at_home == thread.id());
  auto [on_pool] =
      stdexec::sync_wait(stdexec::schedule(scheduler_of(w.ctx)) |
                         stdexec::continues_on(scheduler_of(workers)) | stdexec::then(where))
          .value();
  CHECK(on_pool != thread.id());
  CHECK(on_pool != this_thread());
}

TEST_CASE("stdexec: its senders awaited in a task") {
  context ctx;
  pool workers(1);
  std::thread::id ran;
  CHECK(run(ctx, stdexec_on_pool(workers, ran)) == 1);
  CHECK(ran != this_thread());
}
