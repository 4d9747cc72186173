// SPDX-License-Identifier: Apache-2.0
// The number of repetitions of each loop. weft, its peers and the raw limits use these numbers:
// equal work for all.
#pragma once

#include <algorithm>
#include <cstddef>

namespace weft::bench {

/// A measurement is `batches` samples of `per_batch` repetitions each, after `warm_up` repetitions
/// that do not count. The benchmark defines a repetition: a round trip, or a window and its
/// acknowledgement.
struct plan {
  std::size_t warm_up;
  std::size_t batches;
  std::size_t per_batch;
  double for_ms = 0;  ///< not 0: as many batches as this time allows, of at most `per_batch`

  /// As many samples as `effort` times the usual number, at least five.
  constexpr plan scaled(double effort) const {
    plan result = *this;
    result.batches =
        std::max<std::size_t>(5, static_cast<std::size_t>(static_cast<double>(batches) * effort));
    return result;
  }

  /// The same for so many milliseconds, if `ms` is not 0. Batches are shorter: each repetition of
  /// one that has begun may take a time slice of another process.
  constexpr plan lasting(double ms) const {
    plan result = *this;
    if (ms <= 0) return result;
    result.for_ms = ms;
    result.per_batch = std::min<std::size_t>(per_batch, 64);
    return result;
  }
};

/// Repetition: one round trip of `size` bytes.
constexpr plan latency_plan(std::size_t size, double effort = 1.0) {
  const auto bytes = std::max<std::size_t>(size, 1);
  const auto per_batch = std::clamp<std::size_t>((256UL << 10) / bytes, 1, 200);
  const auto batches = std::clamp<std::size_t>((128UL << 20) / (bytes * per_batch), 20, 100);
  return plan{per_batch * 5, batches, per_batch}.scaled(effort);
}

/// Repetition: `window` messages of `size` bytes in flight, then an acknowledgement.
constexpr plan window_plan(std::size_t size, std::size_t window, double effort = 1.0) {
  const auto bytes = std::max<std::size_t>(size, 1) * window;
  const auto per_batch = std::clamp<std::size_t>((256UL << 10) / bytes, 1, 50);
  const auto batches = std::clamp<std::size_t>((256UL << 20) / (bytes * per_batch), 10, 100);
  return plan{per_batch * 3, batches, per_batch}.scaled(effort);
}

/// Calls of each of `callers` callers, of `size` bytes, one after the other: `effort` times the
/// usual number.
constexpr std::size_t calls_of_each(std::size_t callers, std::size_t size, double effort) {
  const std::size_t usual =
      callers > 1
          ? 100'000 / callers
          : std::clamp<std::size_t>((16UL << 20) / std::max<std::size_t>(size, 1), 16, 2000);
  return std::max<std::size_t>(5, static_cast<std::size_t>(static_cast<double>(usual) * effort));
}

}  // namespace weft::bench
