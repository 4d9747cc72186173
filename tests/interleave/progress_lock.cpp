// SPDX-License-Identifier: Apache-2.0
// The progress lock: one thread that leads, and is biased at first, and one that tries to take it,
// or takes it.
// clang-format off
// always: src/runtime/lock/progress_lock.cpp: row_until_biased = 1000 => row_until_biased = 1
// mutation DROP_FENCE: src/runtime/lock/progress_lock.cpp: if (!private_fence()) can_bias_.store(false, std::memory_order_relaxed); => nothing
// mutation IGNORE_FAVOURED: src/runtime/lock/progress_lock.cpp: bias_owner_holds_.load(std::memory_order_acquire) != 0; => false;
// mutation KEEP_HOLDING: src/runtime/lock/progress_lock.hpp: unlock_unrevoked(); => nothing
// mutation GIVE_RELAXED: src/runtime/lock/progress_lock.hpp: word_.store(0, std::memory_order_release) => word_.store(0, std::memory_order_relaxed)
// mutation TAKE_RELAXED: src/runtime/lock/progress_lock.hpp: word_.exchange(1, std::memory_order_acquire) => word_.exchange(1, std::memory_order_relaxed)
// mutation WAIT_RELAXED: src/runtime/lock/progress_lock.cpp: bias_owner_holds_.load(std::memory_order_acquire) != 0; => bias_owner_holds_.load(std::memory_order_relaxed) != 0;
// mutation UNLOCK_RELAXED: src/runtime/lock/progress_lock.hpp: bias_owner_holds_.store(0, std::memory_order_release); => bias_owner_holds_.store(0, std::memory_order_relaxed);
// clang-format on
#include "substitute.hpp"

#include <memory>

#include "private_fences.hpp"
#include "runtime/lock/progress_lock.cpp"
#include "scenario.hpp"

namespace {

struct state {
  weft::runtime::progress_lock progress_lock;
  int inside = 0;
  // Protected by the progress lock: relaxed, as plain data, which its release must publish.
  weft::std::atomic<int> data{0};
  int uses = 0;

  void use() {
    interleave::expect(++inside == 1, "two threads hold the progress lock");
    const int n = data.load(std::memory_order_relaxed);
    data.store(n + 1, std::memory_order_relaxed);
    ++uses;
    --inside;
  }
};

}  // namespace

interleave::bounds within() { return {.preemptions = 2, .delays = 1, .stale = 2}; }

void scenario(interleave::run& now) {
  const auto s = std::make_shared<state>();
  now.thread([s] {
    for (int sequence = 0; sequence != 2; ++sequence) {
      s->progress_lock.lock_biased();
      s->use();
      s->progress_lock.unlock_biased();
      if (s->progress_lock.wanted()) s->progress_lock.let_waiters_in();
    }
  });
  now.thread([s] {
    if (!s->progress_lock.try_take()) s->progress_lock.take();
    s->use();
    s->progress_lock.give();
  });
  now.at_end([s] { interleave::expect(s->data.load() == s->uses, "a use was overwritten"); });
}
