// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <vector>

#include "coro/timer_heap.hpp"
#include "support/catch.hpp"

using namespace weft;
using detail::time_point;
using detail::timer_heap;
using std::chrono::milliseconds;

namespace {

struct plain_timer : detail::timer {
  explicit plain_timer(int at) : timer([](operation&) noexcept {}) {
    when = time_point(milliseconds(at));
  }
};

std::vector<int> due_at(timer_heap& heap, int now) {
  operation_list due;
  heap.pop_due(time_point(milliseconds(now)), due);
  std::vector<int> times;
  while (operation* op = due.pop()) {
    auto& t = static_cast<detail::timer&>(*op);
    CHECK(t.place == detail::timer::not_waiting);
    times.push_back(static_cast<int>(t.when.time_since_epoch() / milliseconds(1)));
  }
  return times;
}

}  // namespace

TEST_CASE("timers come due in order of time") {
  timer_heap heap;
  CHECK_FALSE(heap.earliest());
  plain_timer c(30), a(10), b(20);
  heap.push(c);
  heap.push(a);
  heap.push(b);
  CHECK(heap.earliest() == a.when);
  CHECK(due_at(heap, 9).empty());
  CHECK(due_at(heap, 20) == std::vector{10, 20});
  CHECK(heap.earliest() == c.when);
  CHECK(due_at(heap, 1000) == std::vector{30});
  CHECK(heap.empty());
}

TEST_CASE("a removed timer never comes due, and is removed once") {
  timer_heap heap;
  plain_timer a(10), b(20);
  heap.push(a);
  heap.push(b);
  CHECK(heap.remove(a));
  CHECK_FALSE(heap.remove(a));
  CHECK(due_at(heap, 100) == std::vector{20});
  CHECK_FALSE(heap.remove(b));
}

TEST_CASE("any order of adding, removing and coming due agrees with a sorted list") {
  std::mt19937 random(20240817);
  for (int round = 0; round < 200; ++round) {
    timer_heap heap;
    std::vector<std::unique_ptr<plain_timer>> all;
    std::vector<plain_timer*> waiting;
    int now = 0;
    for (int step = 0; step < 100; ++step) {
      const auto choice = random() % 4;
      if (choice < 2) {
        all.push_back(std::make_unique<plain_timer>(now + static_cast<int>(random() % 50)));
        waiting.push_back(all.back().get());
        heap.push(*all.back());
      } else if (choice == 2 && !waiting.empty()) {
        const auto which = waiting.begin() + static_cast<long>(random() % waiting.size());
        REQUIRE(heap.remove(**which));
        waiting.erase(which);
      } else {
        now += static_cast<int>(random() % 20);
        std::vector<int> expected;
        for (const plain_timer* t : waiting)
          if (t->when <= time_point(milliseconds(now)))
            expected.push_back(static_cast<int>(t->when.time_since_epoch() / milliseconds(1)));
        std::erase_if(waiting, [&](auto* t) { return t->when <= time_point(milliseconds(now)); });
        std::sort(expected.begin(), expected.end());
        REQUIRE(due_at(heap, now) == expected);
      }
      REQUIRE(heap.size() == waiting.size());
    }
  }
}
