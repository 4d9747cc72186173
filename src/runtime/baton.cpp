// SPDX-License-Identifier: Apache-2.0
#include "runtime/baton.hpp"

#include <sched.h>

#include "runtime/pause.hpp"

namespace weft::runtime {

namespace {
// A pass takes well under this many pauses; a holder that takes longer has lost its core.
constexpr int spins_before_yield = 200;
}  // namespace

void baton::take_contended() noexcept {
  waiting_.fetch_add(1, std::memory_order_relaxed);
  for (int spins = 0; !try_take(); ++spins) {
    if (spins < spins_before_yield)
      cpu_pause();
    else
      sched_yield();
  }
  waiting_.fetch_sub(1, std::memory_order_relaxed);
}

void baton::stand_aside() const noexcept {
  for (int spins = 0; wanted(); ++spins) {
    if (spins < spins_before_yield)
      cpu_pause();
    else
      sched_yield();
  }
}

}  // namespace weft::runtime
