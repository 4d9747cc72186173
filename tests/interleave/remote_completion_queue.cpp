// SPDX-License-Identifier: Apache-2.0
// The remote completion queue: every operation comes out once, and the operations of one thread in
// their order.
// clang-format off
// mutation TAKE_IN_TWO_STEPS: src/runtime/completion/remote_completion_queue.hpp: head_.exchange(nullptr, std::memory_order_acquire); => head_.load(); head_.store(nullptr);
// mutation FORGET_THE_REST: src/runtime/completion/remote_completion_queue.hpp: op.next = top; => op.next = nullptr;
// clang-format on
#include "substitute.hpp"

#include <array>
#include <memory>

#include "runtime/completion/remote_completion_queue.hpp"
#include "scenario.hpp"

namespace {

struct item final : weft::operation {
  item() : operation(nullptr) {}
  unsigned from = 0, number = 0;
};

constexpr unsigned pushers = 2, each = 2;

struct state {
  weft::runtime::remote_completion_queue box;
  std::array<std::array<item, each>, pushers> items;
  std::array<unsigned, pushers> next{};
};

}  // namespace

interleave::bounds within() { return {.preemptions = 3, .delays = 1}; }

void scenario(interleave::run& now) {
  const auto s = std::make_shared<state>();
  for (unsigned p = 0; p != pushers; ++p)
    now.thread([s, p] {
      for (unsigned i = 0; i != each; ++i) {
        s->items[p][i].from = p;
        s->items[p][i].number = i;
        s->box.push(s->items[p][i]);
      }
    });
  now.thread([s] {
    for (unsigned got = 0; got != pushers * each;) {
      weft::operation_list all = s->box.take();
      if (all.empty()) interleave::wait_for_change();
      while (weft::operation* op = all.pop()) {
        const item& i = static_cast<item&>(*op);
        interleave::expect(s->next[i.from]++ == i.number, "the order is another");
        ++got;
      }
    }
  });
}
