// SPDX-License-Identifier: Apache-2.0
// The right to run the engine, held by one thread at a time.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::runtime {

/// Whoever holds the baton may touch transports, matching queues and the completion queue's plain
/// list; nobody else may. It is held for one pass or one posting call, never while user code runs,
/// so taking it hardly ever waits: an exchange on an owned cache line, and giving it is a store.
/// It is a spin lock, and not a mutex, because a mutex pays a second exchange to learn of waiters;
/// a waiter yields its core, since the holder may be the thread that it displaces.
class baton {
 public:
  void take() noexcept {
    if (held_.exchange(1, std::memory_order_acquire) != 0) take_contended();
  }

  bool try_take() noexcept {
    return held_.load(std::memory_order_relaxed) == 0 &&
           held_.exchange(1, std::memory_order_acquire) == 0;
  }

  void give() noexcept { held_.store(0, std::memory_order_release); }

  /// Somebody waits: a thread that polls in a loop should stand aside for a moment.
  bool wanted() const noexcept { return waiting_.load(std::memory_order_relaxed) != 0; }

  /// Waits until nobody waits any more. Not while holding it.
  void stand_aside() const noexcept;

 private:
  void take_contended() noexcept;

  alignas(64) std::atomic<std::uint32_t> held_{0};
  std::atomic<std::uint32_t> waiting_{0};
};

}  // namespace weft::runtime
