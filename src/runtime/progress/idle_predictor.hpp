// SPDX-License-Identifier: Apache-2.0
// Predicts whether the application's next compute phase will be long. Pure: the caller passes the
// time.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>

#include <weft/coro/detail/timer.hpp>

namespace weft::runtime {

/// While the caller computes, no bell rings for data that arrives on descriptors: the progress
/// thread has to learn that it is needed. A wake-up costs the caller some microseconds, which pays
/// only if the phase is long. So phases are predicted to be long after the progress thread has seen
/// a long one. Long phases earn the time that wrong predictions may cost: a share so small that a
/// computing application does not notice it. docs/threading.md.
class idle_predictor {
 public:
  using duration = std::chrono::nanoseconds;
  using time_point = detail::time_point;

  /// A phase that ends this soon was not worth a wake-up.
  static constexpr duration short_phase = std::chrono::microseconds{20};
  /// The cost of a wake-up on the caller's core.
  static constexpr duration wakeup_cost = std::chrono::microseconds{5};
  /// Wrong predictions may cost this part of the time of long phases,
  static constexpr int share_for_wakeups = 16;
  /// this much for a phase that was only seen, whose length is not known,
  static constexpr duration for_one_seen = 4 * wakeup_cost;
  /// and at most this much in a row.
  static constexpr duration most_for_wakeups = 64 * wakeup_cost;

  /// Any thread.
  bool predicts_long() const noexcept { return predicts_long_.load(std::memory_order_relaxed); }
  /// The progress thread found the caller computing. Any thread.
  void saw_long_phase() noexcept {
    seen_.store(true, std::memory_order_relaxed);
    predicts_long_.store(true, std::memory_order_relaxed);
  }

  /// A phase begins that was predicted to be long. Progress lock held, as for all later members.
  void begin(time_point now) noexcept { began_ = now; }
  /// Whether such a phase has begun and not ended.
  bool has_begun() const noexcept { return began_ != time_point{}; }
  /// The phase is over: the next ones are predicted to be long as long as long phases pay for wrong
  /// predictions. \param stretches coroutines that have run in it: each can post what it has to,
  /// so that their mean counts
  void end(time_point now, std::uint32_t stretches = 1) noexcept {
    const duration phase = now - std::exchange(began_, time_point{});
    if (seen_.exchange(false, std::memory_order_relaxed))
      for_wakeups_ = std::max(for_wakeups_, for_one_seen);
    if (phase > short_phase * stretches)
      for_wakeups_ = std::min(for_wakeups_ + phase / share_for_wakeups, most_for_wakeups);
    else if ((for_wakeups_ = std::max(for_wakeups_ - wakeup_cost, duration{})) < wakeup_cost)
      predicts_long_.store(false, std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> predicts_long_{false};
  std::atomic<bool> seen_{false};  // since the last predicted phase
  time_point began_{};
  duration for_wakeups_{};  // the time that wrong predictions may still cost
};

}  // namespace weft::runtime
