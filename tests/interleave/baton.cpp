// SPDX-License-Identifier: Apache-2.0
// The baton: one thread that leads, and is favoured at first, and one that tries to take it, or
// takes it.
// clang-format off
// always: src/runtime/baton.cpp: row_until_favoured = 1000 => row_until_favoured = 1
// mutation DROP_FENCE: src/runtime/baton.cpp: if (!private_fence()) can_favour_.store(false, std::memory_order_relaxed); => nothing
// mutation IGNORE_FAVOURED: src/runtime/baton.cpp: favoured_holds_.load(std::memory_order_acquire) != 0; => false;
// mutation KEEP_HOLDING: src/runtime/baton.hpp: give_unrevoked(); => nothing
// mutation GIVE_RELAXED: src/runtime/baton.hpp: word_.store(0, std::memory_order_release) => word_.store(0, std::memory_order_relaxed)
// clang-format on
#include "substitute.hpp"

#include <memory>

#include "runtime/baton.cpp"
#include "scenario.hpp"

namespace weft::runtime {
bool join_private_fences() noexcept { return true; }
bool private_fence() noexcept {
  interleave::point();
  interleave::fence_all();
  return true;
}
}  // namespace weft::runtime

namespace {

struct state {
  weft::runtime::baton baton;
  int inside = 0;
  weft::std::atomic<int> data{
      0};  // what the baton protects: relaxed stores, which giving it must publish
  int uses = 0;

  void use() {
    interleave::expect(++inside == 1, "two threads hold the baton");
    const int n = data.load();
    data.store(n + 1, std::memory_order_relaxed);
    ++uses;
    --inside;
  }
};

}  // namespace

interleave::bounds within() { return {.preemptions = 2, .delays = 1}; }

void scenario(interleave::run& now) {
  const auto s = std::make_shared<state>();
  now.thread([s] {
    for (int turn = 0; turn != 2; ++turn) {
      s->baton.take_favoured();
      s->use();
      s->baton.give_favoured();
      if (s->baton.wanted()) s->baton.stand_aside();
    }
  });
  now.thread([s] {
    if (!s->baton.try_take()) s->baton.take();
    s->use();
    s->baton.give();
  });
  now.at_end([s] { interleave::expect(s->data.load() == s->uses, "a use was overwritten"); });
}
