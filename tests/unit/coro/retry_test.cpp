// SPDX-License-Identifier: Apache-2.0
// All tests use a clock that only the test moves.
#include <weft/coro/retry.hpp>

#include <chrono>
#include <string>
#include <vector>

#include "manual.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

/// Fails with these errors in turn, and then ends well. Notes when it was called.
struct flaky {
  manual::loop& clock;
  std::vector<errc> errors;
  std::vector<std::chrono::nanoseconds> calls;
  detail::time_point begin = clock.now();

  task<int> attempt() {
    calls.push_back(clock.now() - begin);
    if (calls.size() <= errors.size()) throw error(errors[calls.size() - 1], "it failed");
    co_return 42;
  }
};

struct outcome_of_retry {
  int value = 0;
  errc how = errc::ok;
  std::string text;
};

task<void> note(task<int> x, outcome_of_retry& into) {
  auto end = co_await as_result(std::move(x));
  into.how = end.code();
  if (end)
    into.value = end.value();
  else
    into.text = end.failure().what();
}

void pass_time(manual::loop& loop, std::chrono::milliseconds all) {
  for (auto t = 0ms; t != all; t += 1ms) loop.advance(1ms);
}

}  // namespace

TEST_CASE("retry: begins anew after errors that may pass", "[retry]") {
  manual::loop loop;
  flaky f{loop, {errc::peer_lost, errc::closed, errc::out_of_memory}, {}};
  outcome_of_retry got;
  manual::spawned run(loop, note(with_retry({.seed = 1}, [&] { return f.attempt(); }), got));
  pass_time(loop, 1000ms);
  REQUIRE(run.ended());
  CHECK(got.value == 42);
  CHECK(f.calls.size() == 4);
}

TEST_CASE("retry: the pauses are random, and their bound doubles up to a limit", "[retry]") {
  std::vector<std::chrono::nanoseconds> longest(6);
  for (std::uint64_t seed = 1; seed != 60; ++seed) {
    manual::loop loop;
    flaky f{loop, std::vector<errc>(7, errc::peer_lost), {}};
    outcome_of_retry got;
    manual::spawned run(
        loop,
        note(with_retry({.attempts = 7, .first_pause = 10ms, .longest_pause = 50ms, .seed = seed},
                        [&] { return f.attempt(); }),
             got));
    pass_time(loop, 400ms);
    REQUIRE(run.ended());
    CHECK(got.how == errc::peer_lost);
    CHECK(got.text.starts_with("tried 7 times in "));
    CHECK(got.text.ends_with(" ms: it failed"));
    REQUIRE(f.calls.size() == 7);
    for (std::size_t i = 0; i != 6; ++i)
      longest[i] = std::max(longest[i], f.calls[i + 1] - f.calls[i]);
  }
  const std::vector<std::chrono::milliseconds> bound{10ms, 20ms, 40ms, 50ms, 50ms, 50ms};
  for (std::size_t i = 0; i != 6; ++i) {
    CHECK(longest[i] <= bound[i] + 1ms);
    CHECK(longest[i] > bound[i] / 2);
  }
}

TEST_CASE("retry: an error that does not pass ends it as it is", "[retry]") {
  manual::loop loop;
  flaky f{loop, {errc::refused}, {}};
  outcome_of_retry got;
  manual::spawned run(loop, note(with_retry({}, [&] { return f.attempt(); }), got));
  loop.run();
  CHECK(run.ended());
  CHECK(got.how == errc::refused);
  CHECK(got.text == "it failed");

  flaky g{loop, {errc::refused}, {}};
  manual::spawned again(
      loop,
      note(with_retry({.retriable = is_transient_or_refused}, [&] { return g.attempt(); }), got));
  pass_time(loop, 60ms);
  CHECK(again.ended());
  CHECK(got.value == 42);
}

TEST_CASE("retry: the total time bounds attempts and pauses", "[retry]") {
  manual::loop loop;
  SECTION("an attempt that does not end") {
    outcome_of_retry got;
    const auto endless = []() -> task<int> {
      co_await sleep_for(1h);
      co_return 1;
    };
    manual::spawned run(loop, note(with_retry({.total = 100ms}, endless), got));
    pass_time(loop, 99ms);
    CHECK_FALSE(run.ended());
    pass_time(loop, 1ms);
    CHECK(run.ended());
    CHECK(got.how == errc::timed_out);
  }
  SECTION("many attempts") {
    flaky f{loop, std::vector<errc>(1000, errc::peer_lost), {}};
    outcome_of_retry got;
    manual::spawned run(loop,
                        note(with_retry({.attempts = 1000, .total = 100ms, .first_pause = 9ms},
                                        [&] { return f.attempt(); }),
                             got));
    pass_time(loop, 100ms);
    CHECK(run.ended());
    CHECK(got.how == errc::peer_lost);
  }
}

TEST_CASE("retry: obeys stops and deadlines of its chain", "[retry]") {
  manual::loop loop;
  flaky f{loop, std::vector<errc>(1000, errc::peer_lost), {}};
  const auto endless = [&] {
    return with_retry({.attempts = 1000, .first_pause = 20ms, .seed = 3},
                      [&] { return f.attempt(); });
  };
  outcome_of_retry got;
  manual::spawned late(loop, note(within(100ms, endless()), got));
  pass_time(loop, 100ms);
  CHECK(late.ended());
  CHECK(got.how == errc::timed_out);
  CHECK(got.text.find("tried ") != std::string::npos);
  CHECK(got.text.ends_with("it failed"));

  std::stop_source stop;
  manual::spawned stopped(loop, note(endless(), got), stop.get_token());
  pass_time(loop, 50ms);
  stop.request_stop();
  loop.run();
  CHECK(stopped.ended());
  CHECK(got.how == errc::stopped);
}
