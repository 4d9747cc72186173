// SPDX-License-Identifier: Apache-2.0
// An event is destroyed while a coroutine waits for it and another thread stops this wait: the wait
// ends once, and no thread touches the event afterwards.
// clang-format off
// mutation END_TOO_EARLY: src/coro/waiter.cpp: while (!empty()) { => while (false) {
// mutation LOCK_BEFORE_CLAIM: src/coro/waiter.cpp: if (!claim()) return; => { const std::lock_guard lock(lock_); } if (!claim()) return;
// clang-format on
#include "waits.hpp"

#include <memory>
#include <optional>

#include "coro/event.cpp"
#include "coro/waiter.cpp"
#include "scenario.hpp"

namespace {

struct state {
  std::optional<weft::event> event{std::in_place};
  weft::event_awaiter wait{*event};
  weft::event_awaiter other{*event};
  waits::counts n;
  waits::counting_coroutine one = waits::count(wait, n);
  waits::counting_coroutine two = waits::count(other, n);
};

}  // namespace

interleave::bounds within() { return {.preemptions = 4, .delays = 1}; }

void scenario(interleave::run& now) {
  waits::used_after_end = false;
  const auto s = std::make_shared<state>();
  now.thread([s] { s->event.reset(); });
  now.thread([s] { s->wait.stop(); });
  now.at_end([s] {
    interleave::expect(s->n.failed == 2 && s->n.well == 0, "the waits have not ended, or twice");
    interleave::expect(!waits::used_after_end, "the event is used after its end");
  });
}
