// SPDX-License-Identifier: Apache-2.0
// Batches until a time has passed, where a message may take 100 ns or a whole time slice of another
// process. The same for weft and the MPIs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/clock.hpp"
#include "support/plan.hpp"

namespace weft::bench {

/// The repetitions of each batch follow the time of the batch before, so that no batch takes long
/// when the next message is a thousand times slower. A quarter of the time is warm-up. The object
/// of rank 0 decides for both.
class timed_batches {
 public:
  explicit timed_batches(const plan& loops) : most_(loops.per_batch), for_us_(loops.for_ms * 1e3) {}

  /// The repetitions of the next batch; 0: the time is over.
  std::uint64_t next() const noexcept { return over_ ? 0 : count_; }

  /// Ends a batch of next() repetitions.
  void add(double us) {
    const auto now = now_ns();
    if (warms_up_) {
      warms_up_ = us_between(began_, now) < for_us_ / 4;
      if (!warms_up_) began_ = now;
    } else {
      samples_.insert(samples_.end(), count_, us / static_cast<double>(count_));
      over_ = us_between(began_, now) >= for_us_;
    }
    if (us < short_us) count_ = std::min<std::size_t>(2 * count_, most_);
    if (us > long_us) count_ = std::max<std::size_t>(count_ / 2, 1);
  }

  /// Microseconds of each repetition: the mean of its batch. So the mean of the samples is the
  /// whole time by all repetitions.
  std::vector<double> take() { return std::move(samples_); }

 private:
  static constexpr double short_us = 500, long_us = 2000;
  const std::size_t most_;
  const double for_us_;
  std::int64_t began_ = now_ns();
  std::size_t count_ = 1;
  bool warms_up_ = true, over_ = false;
  std::vector<double> samples_;
};

}  // namespace weft::bench
