// SPDX-License-Identifier: Apache-2.0
// The duration of an all-to-all of ranks that share cores; the same for weft and its peers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/clock.hpp"

namespace weft::bench {

/// Such ranks may take milliseconds for a round, so batches are short and there is a limit in time.
/// The first batches do not count: each pair touches its ring for the first time until it has used
/// the whole ring once. Each rank has one object; that of rank 0 decides for all.
class crowd_batches {
 public:
  static constexpr std::size_t per_batch = 5;  ///< rounds

  explicit crowd_batches(double effort)
      : wanted_(std::max<std::size_t>(5, static_cast<std::size_t>(20 * effort))) {}

  /// Ends a batch.
  /// \param messages in it, of all ranks
  /// \return whether another batch follows
  bool add(std::int64_t start_ns, std::int64_t end_ns, double messages) {
    if (first_ == 0) first_ = start_ns;
    if (warm_up_left_ != 0) {
      --warm_up_left_;
      if (us_between(first_, end_ns) > enough_us / 4) warm_up_left_ = 0;
      if (warm_up_left_ == 0) first_ = end_ns;
      return true;
    }
    samples_.push_back(us_between(start_ns, end_ns) / messages);
    return samples_.size() < wanted_ &&
           (samples_.size() < 5 || us_between(first_, end_ns) < enough_us);
  }

  /// Microseconds for each message.
  std::vector<double> take() { return std::move(samples_); }

 private:
  static constexpr double enough_us = 2e6;
  const std::size_t wanted_;
  std::size_t warm_up_left_ = 100;
  std::int64_t first_ = 0;
  std::vector<double> samples_;
};

}  // namespace weft::bench
