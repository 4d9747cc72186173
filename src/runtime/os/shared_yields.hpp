// SPDX-License-Identifier: Apache-2.0
// Yields of a core at a place where any thread may wait.
#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>

#include "runtime/os/yield_meter.hpp"

namespace weft::runtime {

/// One yield_meter for all threads of a place. Any thread; waits for none of the others.
class shared_yields {
 public:
  /// \return false: none was made, since it may cost a time slice, or another thread is about it
  bool yield() noexcept {
    using clock = std::chrono::steady_clock;
    if (taken_.exchange(true, std::memory_order_acquire)) return false;
    const auto before = clock::now();
    const bool cheap = !meter_.is_dear(before);
    if (cheap) {
      ::sched_yield();
      meter_.on_yield(before, clock::now());
    }
    taken_.store(false, std::memory_order_release);
    return cheap;
  }

 private:
  std::atomic<bool> taken_{false};
  yield_meter meter_;  // of the thread that has `taken_`
};

}  // namespace weft::runtime
