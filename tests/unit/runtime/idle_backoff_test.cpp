// SPDX-License-Identifier: Apache-2.0
// External loops, with more threads than cores.
#include "runtime/progress/engine.hpp"
#include "support/catch.hpp"

using namespace weft;
using namespace weft::runtime;
using namespace std::chrono_literals;

TEST_CASE("vain looks: whoever gives its core away between looks is found out, and remembered") {
  engine e(progress_mode::polling, {.spin = 1h, .crowded = true}, "epoll");
  idle_backoff looks = e.external().backoff();
  const auto now = [] { return std::chrono::steady_clock::now(); };

  looks.before_poll();
  CHECK_FALSE(looks.others_run);

  looks.left = now() - 1ms;
  looks.before_poll();
  CHECK(looks.others_run);

  looks.reset();  // an event has come
  looks.before_poll();
  CHECK(looks.others_run);

  looks.left = now() + 1h;  // no time has passed, however slow this machine is
  looks.before_poll();
  CHECK_FALSE(looks.others_run);
}

TEST_CASE("only a loop by calls, on a crowded host, leaves peers that compute to themselves") {
  for (const bool crowded : {false, true}) {
    engine e(progress_mode::polling, {.spin = 1h, .crowded = crowded}, "epoll");
    CHECK_FALSE(e.peers_find_out());
    e.external().begin();
    CHECK(e.peers_find_out() == crowded);
    e.external().end();
    CHECK_FALSE(e.peers_find_out());
  }
}

TEST_CASE("idle backoff: a loop that yields is timed now and then") {
  engine e(progress_mode::polling, {.spin = 1h, .crowded = true}, "epoll");
  idle_backoff looks = e.external().backoff();
  const auto timed_in = [&](unsigned polls) {
    unsigned timed = 0;
    for (unsigned i = 0; i != polls; ++i) {
      looks.after_poll();
      if (looks.left == time_point{}) continue;
      ++timed;
      looks.left -= 1ms;  // as if the loop had yielded
      looks.before_poll();
    }
    return timed;
  };
  CHECK(timed_in(1) == 1);
  CHECK(looks.others_run);
  constexpr unsigned between = idle_backoff::polls_between_clocks;
  CHECK(timed_in(10 * (between + 1)) == 10);

  // It does not yield any more: each poll is timed again.
  while (looks.left == time_point{}) looks.after_poll();
  looks.left += 1h;
  looks.before_poll();
  CHECK_FALSE(looks.others_run);
  looks.after_poll();
  CHECK(looks.left != time_point{});
}

TEST_CASE("idle backoff: an empty poll is timed only on a crowded host") {
  for (const bool crowded : {false, true}) {
    engine e(progress_mode::polling, {.spin = 1h, .crowded = crowded}, "epoll");
    idle_backoff looks = e.external().backoff();
    e.external().begin();
    // A thread that yields without effect finds that it is alone; a busy machine may be crowded.
    bool timed = false;
    for (int i = 0; i != 2; ++i) {
      timed = timed || looks.waits.crowded();
      e.external().back_off(looks, looks.waits.passes_in_turn());
    }
    CHECK((looks.left != time_point{}) == timed);
    if (crowded) CHECK(looks.left != time_point{});
    e.external().end();
  }
}
