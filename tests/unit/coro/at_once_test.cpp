// SPDX-License-Identifier: Apache-2.0
// Requests that may be done without an operation (request_without_operation).
#include <stdexcept>
#include <string>

#include <weft/coro/as_result.hpp>
#include <weft/coro/local_loop.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/time.hpp>

#include "support/catch.hpp"

using namespace weft;

namespace {

class errand_operation;

/// Where errands are done: at once if it is open, else by an operation, which ends in its start.
struct desk {
  bool open = true;
  int done_at_once = 0;
  int started = 0;
};

struct errand {
  using value_type = void;
  using operation_type = errand_operation;
  desk* where;

  bool try_now() const noexcept {
    if (where->open) ++where->done_at_once;
    return where->open;
  }
};

class errand_operation : public operation {
 public:
  errand_operation(const errand& r, complete_fn f) noexcept : operation(f), request(r) {}
  bool start() noexcept {
    ++request.where->started;
    status = cancelled_ ? errc::stopped : errc::ok;
    return true;
  }
  void cancel() noexcept { cancelled_ = true; }
  void take() const noexcept {}
  std::string explain() const { return "the errand was stopped"; }

  const errand request;

 private:
  bool cancelled_ = false;
};

static_assert(detail::request_without_operation<errand>);

}  // namespace

TEST_CASE("at once: co_await makes an operation only of a request that cannot be done at once") {
  local_loop loop;
  desk d;
  const auto two = [](desk& at) -> task<void> {
    co_await errand{&at};
    at.open = false;
    co_await errand{&at};
  };
  run(loop, two(d));
  CHECK(d.done_at_once == 1);
  CHECK(d.started == 1);
}

TEST_CASE("at once: a scope does the same, and calls `use` in both cases") {
  local_loop loop;
  desk d;
  int used = 0;
  const auto two = [](desk& at, int& n) -> task<void> {
    scope s;
    s.start(errand{&at}, [&n] { ++n; });
    CHECK(n == 1);
    at.open = false;
    errand again{&at};  // an lvalue is copied
    s.start(again, [&n] { ++n; });
    co_await s.join();
  };
  run(loop, two(d, used));
  CHECK(used == 2);
  CHECK(d.done_at_once == 1);
  CHECK(d.started == 1);
}

TEST_CASE("at once: an exception of `use` is the failure of the request") {
  local_loop loop;
  desk d;
  const auto fails = [](desk& at) -> task<void> {
    scope s;
    s.start(errand{&at}, [] { throw std::runtime_error("the test's own"); });
    co_await s.join();
  };
  CHECK_THROWS_AS(run(loop, fails(d)), std::runtime_error);
  CHECK(d.done_at_once == 1);
}

TEST_CASE("at once: nothing is done in a scope that was asked to stop") {
  local_loop loop;
  desk d;
  const auto stopped = [](desk& at) -> task<void> {
    scope s;
    s.request_stop();
    s.start(errand{&at});
    co_await s.join();
  };
  run(loop, stopped(d));
  CHECK(d.done_at_once == 0);
  CHECK(d.started == 1);
}

TEST_CASE("at once: nothing is done for a coroutine that was asked to stop") {
  local_loop loop;
  desk d;
  std::stop_source stop;
  stop.request_stop();
  const auto one = [](desk& at) -> task<void> { co_await errand{&at}; };
  const auto ends = [&](desk& at) -> task<errc> {
    const auto r = co_await as_result(stoppable(stop.get_token(), one(at)));
    co_return r.code();
  };
  CHECK(run(loop, ends(d)) == errc::stopped);
  CHECK(d.done_at_once == 0);
}
