// SPDX-License-Identifier: Apache-2.0
// Timers end into the completion queue.
#include <chrono>
#include <vector>

#include "runtime/completion/timer_queue.hpp"
#include "support/catch.hpp"

using namespace weft;
using detail::time_point;
using runtime::completion_queue;
using runtime::timer_queue;
using std::chrono::milliseconds;

namespace {

struct queued_timer : detail::timer {
  explicit queued_timer(int at) : timer([](operation&) noexcept {}) {
    when = time_point(milliseconds(at));
  }
};

using timers_in = std::vector<operation*>;

timers_in taken_from(operation_list list) {
  timers_in all;
  while (operation* op = list.pop()) all.push_back(op);
  return all;
}

}  // namespace

TEST_CASE("timer queue: a timer ends once, when it is due, cancelled or closed") {
  completion_queue ended;
  timer_queue timers(ended);
  CHECK(timers.empty());
  CHECK(timers.deadline() == time_point::max());
  queued_timer early(1), late(2), cancelled(3), last(4), refused(5);
  for (queued_timer* t : {&late, &early, &cancelled, &last}) CHECK(timers.add(*t));
  CHECK(timers.deadline() == early.when);

  timers.end_due(early.when - milliseconds(1));
  CHECK_FALSE(ended.has_home());
  timers.end_due(late.when);
  CHECK(taken_from(ended.take_home()) == timers_in{&early, &late});
  CHECK(late.status == errc::ok);

  timers.cancel(cancelled);
  timers.cancel(cancelled);
  timers.cancel(early);
  CHECK(taken_from(ended.take_home()) == timers_in{&cancelled});
  CHECK(cancelled.status == errc::stopped);

  timers.close();
  CHECK_FALSE(timers.add(refused));
  CHECK(taken_from(ended.take_home()) == timers_in{&last, &refused});
  CHECK(last.status == errc::closed);
  CHECK(refused.status == errc::closed);
  CHECK(timers.empty());
}
