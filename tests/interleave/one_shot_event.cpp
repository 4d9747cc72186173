// SPDX-License-Identifier: Apache-2.0
// An event that is set while a coroutine is about to wait for it: the coroutine resumes, once.
// clang-format off
// mutation OPEN_IN_TWO_STEPS: include/weft/coro/detail/scheduled_continuation.hpp: if (state_.exchange(opened, std::memory_order_acq_rel) == waiting) => const auto before = state_.load(); state_.store(opened); if (before == waiting)
// clang-format on
#include "substitute.hpp"

#include <coroutine>
#include <memory>

#include <weft/coro/detail/scheduled_continuation.hpp>

#include "scenario.hpp"

namespace {

struct fire_and_forget {
  struct promise_type {
    fire_and_forget get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept {}
  };
};

struct state {
  weft::detail::one_shot_event one_shot_event;
  int passed = 0;
};

fire_and_forget pass(std::shared_ptr<state> s) {
  co_await s->one_shot_event;
  ++s->passed;
}

}  // namespace

interleave::bounds within() { return {.preemptions = 8, .delays = 2, .stale = 2}; }

void scenario(interleave::run& now) {
  const auto s = std::make_shared<state>();
  now.thread([s] { pass(s); });
  now.thread([s] { s->one_shot_event.open(); });
  now.at_end([s] { interleave::expect(s->passed == 1, "the coroutine did not pass, or twice"); });
}
