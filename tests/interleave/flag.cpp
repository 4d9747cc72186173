// SPDX-License-Identifier: Apache-2.0
// A flag segment: two members raise a flag each, and a third one sleeps until both are raised.
// clang-format off
// always: src/runtime/sleep/doorbell.cpp: map_own(memory_, page_size) => named(map_own(memory_, page_size), memory_)
// always: src/runtime/sleep/doorbell.cpp: map_from_peer(page, page_size, false) => named(map_from_peer(page, page_size, false), page)
// always: src/runtime/flags/flag_segment.cpp: map_from_peer(memory, l.size(), true) => named(map_from_peer(memory, l.size(), true), memory)
// mutation NO_FENCE: src/runtime/sleep/doorbell.cpp: if (!heavy_fence() && !must_fence_) settle(); => nothing
// mutation JUDGE_UNFENCED: src/runtime/flags/flag_segment.cpp: std::atomic_thread_fence(std::memory_order_seq_cst); => nothing
// mutation NEVER_RING: src/runtime/flags/flag_segment.cpp: (asleep & 1) == 0 || => true ||
// mutation RAISE_UNFENCED: src/runtime/flags/flag_segment.hpp: std::atomic_thread_fence(std::memory_order_seq_cst); => ;
// mutation RAISE_RELAXED: src/runtime/flags/flag_segment.hpp: f.value.store(value, std::memory_order_release); => f.value.store(value, std::memory_order_relaxed);
// clang-format on
#include "substitute.hpp"

#include <poll.h>
#include <sys/stat.h>

#include <memory>

#include "runtime/descriptors/memory_file.hpp"
#include "scenario.hpp"

namespace weft::runtime {

/// The memory is mapped several times.
mapping named(mapping m, const unique_fd& file) {
  struct stat about {};
  ::fstat(file.get(), &about);
  interleave::same_memory(m.get(), m.size(), about.st_ino);
  return m;
}

}  // namespace weft::runtime

#include "runtime/flags/flag_segment.cpp"
#include "runtime/flags/flag_waits.cpp"
#include "runtime/sleep/doorbell.cpp"

namespace {
bool refused = false;  // whether the kernel refuses membarrier, in this run
}

namespace weft::runtime {
bool join_heavy_fences() noexcept { return !refused; }
void settle() noexcept {}
bool heavy_fence() noexcept {
  interleave::point();
  if (refused)
    interleave::fence();
  else
    interleave::fence_all();
  return !refused;
}
}  // namespace weft::runtime

namespace {

using namespace weft::runtime;

constexpr flag_layout layout{3, 2, 0};

struct waits final : flag_wait_service {
  bool start(weft::flag_operation& op) noexcept override { return !all.add(op); }
  void cancel(weft::flag_operation& op) noexcept override { all.cancel(op); }
  completion_queue ended;
  flag_waits all{ended};
};

struct state {
  doorbell bell{false};
  weft::unique_fd memory = flag_segment::make(layout);
  flag_segment sleeper{memory, layout, 2, &bell};
  flag_segment raisers[2] = {{memory, layout, 0, &bell}, {memory, layout, 1, &bell}};
  waits service;
  weft::std::atomic<unsigned> bytes[2] = {0, 0};
};

bool rung(const wakeup_receiver& ear) {
  pollfd p{ear.fd(), POLLIN, 0};
  return ::poll(&p, 1, 0) == 1;
}

}  // namespace

interleave::bounds within() { return {.preemptions = 1, .delays = 1, .stale = 1}; }

void scenario(interleave::run& now) {
  refused = interleave::any_of(2) == 1;
  const auto s = std::make_shared<state>();
  for (unsigned n : {0u, 1u})
    now.thread([s, n] {
      s->bytes[n].store(1, std::memory_order_relaxed);
      s->raisers[n].raise(s->raisers[n].at(n), 1);
    });
  now.thread([s] {
    const weft::flag_request r{&s->service, &s->sleeper, {0, 2}, 1};
    weft::flag_operation op(r, [](weft::operation&) noexcept {});
    if (!op.start()) {
      s->service.ended.add_pending(op);
      while (s->service.all.poll() == 0) {
        s->service.all.announce(true);
        s->bell.arm_asleep();
        if (!s->service.all.any_has_come()) {
          interleave::wait_until([s] { return rung(s->bell.caller_wakeup()); });
          s->bell.caller_wakeup().drain();
        }
        s->bell.disarm_asleep();
        s->service.all.withdraw();
      }
    }
    for (const auto& b : s->bytes)
      interleave::expect(b.load(std::memory_order_relaxed) == 1, "bytes that came before a flag");
    s->service.all.forget(s->sleeper);
  });
}
