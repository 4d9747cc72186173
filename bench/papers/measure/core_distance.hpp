// SPDX-License-Identifier: Apache-2.0
// How far two cores of this machine are apart, now. The host of a virtual machine moves its cores:
// they may share a cache for some minutes, and not for the next ones. Then a cache line takes four
// times as long from one to the other, and two commands that ran minutes apart are no comparison.
#pragma once

#include <chrono>
#include <optional>

namespace weft::bench::page {

/// Owned by a run of the report; one thread uses it.
class core_distance {
 public:
  /// With a distance of so many times the least one, cores are far apart.
  static constexpr double far = 1.5;

  /// \param patience how long come_near waits at most
  explicit core_distance(std::chrono::seconds patience) : patience_(patience) {}

  /// \return nanoseconds that a cache line takes from one core to the other; nothing: this process
  ///   may use one core only. Takes some milliseconds
  std::optional<double> measure();

  /// Waits until the cores are about as near as they have been, or the patience is over.
  /// \return as measure, of the last look
  std::optional<double> come_near();

 private:
  const std::chrono::seconds patience_;
  double least_ = 0;  // of all looks; 0: there was none
};

}  // namespace weft::bench::page
