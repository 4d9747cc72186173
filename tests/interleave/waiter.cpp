// SPDX-License-Identifier: Apache-2.0
// A coroutine waits for a semaphore while another thread releases a permit and a third one stops
// the wait: it ends once, and no permit is lost.
// clang-format off
// mutation CLAIM_IN_TWO_STEPS: include/weft/coro/detail/waiter.hpp: return state_.exchange(claimed, std::memory_order_acq_rel) == waiting; => const auto before = state_.load(); state_.store(claimed); return before == waiting;
// mutation ENTER_WITHOUT_LOOK: src/coro/waiter.cpp: if (!state_.compare_exchange_strong(unasked, waiting, std::memory_order_acq_rel)) { => state_.store(waiting); if (unasked != fresh) {
// mutation GIVE_TO_THE_STOPPED: include/weft/coro/detail/waiter.hpp: if (!w->claim()) continue; => w->claim();
// clang-format on
#include "waits.hpp"

#include <memory>

#include "coro/semaphore.cpp"
#include "coro/waiter.cpp"
#include "scenario.hpp"

namespace {

struct state {
  ~state() { wait.stop(); }  // in a run that failed it may wait still

  weft::semaphore semaphore{0};
  weft::acquire_awaiter wait{semaphore};
  waits::counts n;
  waits::counting_coroutine coroutine;
  int released = 0;
};

}  // namespace

interleave::bounds within() { return {.preemptions = 3, .delays = 1}; }

void scenario(interleave::run& now) {
  const auto s = std::make_shared<state>();
  now.thread([s] { s->coroutine = waits::count(s->wait, s->n); });
  now.thread([s] {
    if (interleave::any_of(2) == 0) return;
    ++s->released;
    s->semaphore.release();
  });
  now.thread([s] { s->wait.stop(); });
  now.at_end([s] {
    interleave::expect(s->n.well + s->n.failed == 1, "the wait has not ended, or twice");
    const int left = s->semaphore.try_acquire();
    interleave::expect(left + s->n.well == s->released, "a wrong number of permits");
  });
}
