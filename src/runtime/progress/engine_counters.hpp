// SPDX-License-Identifier: Apache-2.0
// The counters of an engine.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "runtime/sleep/wait_set.hpp"

namespace weft::runtime {

/// One sleep of a thread of the engine.
struct sleep_record {
  time_point began{}, ended{};
  unsigned told = 0;  ///< how many watchers ended the sleep; 0: the deadline did
};

/// Written with the progress lock held or by the sleeping thread alone; any thread reads.
struct engine_counters {
  std::atomic<std::uint64_t> sleeps{0};
  std::atomic<std::uint64_t> nanoseconds_asleep{0};
  std::atomic<std::uint64_t> wake_ups{0};
  std::atomic<std::uint64_t> empty_wake_ups{0};
  std::atomic<std::uint64_t> progress_iterations{0};

  void add(const sleep_record& s) noexcept {
    const auto asleep = static_cast<std::uint64_t>((s.ended - s.began).count());
    sleeps.fetch_add(1, std::memory_order_relaxed);
    wake_ups.fetch_add(s.told != 0 ? 1 : 0, std::memory_order_relaxed);
    nanoseconds_asleep.fetch_add(asleep, std::memory_order_relaxed);
  }
};

}  // namespace weft::runtime
