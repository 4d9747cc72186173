// SPDX-License-Identifier: Apache-2.0
// What yields of a core cost: a moment, or a time slice.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace weft::runtime {

/// Threads of weft that wait give a core back within microseconds: to yield to them is cheap, and
/// lets them go on. Any other process keeps the core for its whole slice, some milliseconds. So
/// once a yield has cost that much no other is made for a while, twice as long each time. Owned and
/// used by one thread. No clock inside.
class yield_meter {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Longer than threads keep the core that only wait; shorter than the slices of Linux.
  static constexpr std::chrono::nanoseconds longest_cheap = std::chrono::microseconds{700};

  /// Whether the next yield may cost a slice.
  bool is_dear(time_point now) const noexcept { return now < dear_until_; }

  enum class use : std::uint8_t { none, moment, slice };

  /// \return how other threads have used the yield
  use on_yield(time_point from, time_point to) noexcept {
    if (to - from > longest_cheap) {
      // One of many threads of weft may have computed for once.
      if (std::exchange(moments_, 0U) >= moments_of_many) return use::moment;
      pause_ = std::clamp(2 * pause_, first_pause, longest_pause);
      dear_until_ = to + pause_;
      return use::slice;
    }
    if (to - from <= unused) return use::none;
    pause_ /= 2;  // threads of weft are there, too
    ++moments_;
    return use::moment;
  }

 private:
  // A yield that no thread used returns within a microsecond.
  static constexpr std::chrono::nanoseconds unused = std::chrono::microseconds{3};
  static constexpr std::chrono::nanoseconds first_pause = std::chrono::milliseconds{10};
  static constexpr std::chrono::nanoseconds longest_pause = std::chrono::milliseconds{1600};

  static constexpr std::uint32_t moments_of_many = 4;

  time_point dear_until_{};
  std::chrono::nanoseconds pause_{0};
  std::uint32_t moments_ = 0;  // used for a moment, since the last slice
};

}  // namespace weft::runtime
