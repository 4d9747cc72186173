// SPDX-License-Identifier: Apache-2.0
// The doorbell: a sender of some messages, and a thread that sleeps whenever it has seen all of
// them.
// clang-format off
// always: src/runtime/sleep/doorbell.cpp: map_own(memory_, page_size) => named(map_own(memory_, page_size), memory_)
// always: src/runtime/sleep/doorbell.cpp: map_from_peer(page, page_size, false) => named(map_from_peer(page, page_size, false), page)
// mutation DROP_FENCE: src/runtime/sleep/doorbell.cpp: if (!heavy_fence() && !must_fence_) settle(); => nothing
// mutation SAME_ODD_VALUE: src/runtime/sleep/doorbell.hpp: (now & ~3u) + 4 + state => state
// mutation NEVER_RING: src/runtime/sleep/doorbell.hpp: now == rung_asleep_) [[likely]] => true) [[likely]]
// mutation SEND_UNFENCED: src/runtime/sleep/doorbell.hpp: if (must_fence_) std::atomic_thread_fence(std::memory_order_seq_cst); => nothing
// mutation SEND_WITH_A_LIGHT_FENCE: src/runtime/sleep/doorbell.hpp: if (must_fence_) std::atomic_thread_fence(std::memory_order_seq_cst); => if (must_fence_) std::atomic_thread_fence(std::memory_order_acq_rel);
// clang-format on
#include "substitute.hpp"

#include <poll.h>
#include <sys/stat.h>

#include <memory>

#include "runtime/descriptors/memory_file.hpp"
#include "scenario.hpp"

namespace weft::runtime {

/// The page is mapped twice.
mapping named(mapping m, const unique_fd& file) {
  struct stat about {};
  ::fstat(file.get(), &about);
  interleave::same_memory(m.get(), m.size(), about.st_ino);
  return m;
}

}  // namespace weft::runtime

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

constexpr unsigned messages = 2;

struct state {
  weft::runtime::doorbell own{false};
  weft::runtime::remote_doorbell remote{weft::runtime::duplicate(own.page_fd()), own.to_peers()};
  weft::std::atomic<unsigned> sent{0};
};

bool rung(const weft::runtime::wakeup_receiver& ear) {
  pollfd p{ear.fd(), POLLIN, 0};
  return ::poll(&p, 1, 0) == 1;
}

}  // namespace

interleave::bounds within() { return {.preemptions = 3, .delays = 1, .stale = 2}; }

void scenario(interleave::run& now) {
  refused = interleave::any_of(2) == 1;
  const auto s = std::make_shared<state>();
  now.thread([s] {
    for (unsigned n = 1; n <= messages; ++n) {
      s->sent.store(n, std::memory_order_release);
      s->remote.ring_if_asleep();
    }
  });
  now.thread([s] {
    for (unsigned seen = 0; seen != messages;) {
      s->own.arm_asleep();
      if (s->sent.load(std::memory_order_acquire) == seen) {
        interleave::wait_until([s] { return rung(s->own.caller_wakeup()); });
        s->own.caller_wakeup().drain();
      }
      s->own.disarm_asleep();
      seen = s->sent.load(std::memory_order_acquire);
    }
  });
}
