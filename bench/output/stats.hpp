// SPDX-License-Identifier: Apache-2.0
// Medians and percentiles, so that one preemption does not decide a figure. The mean is kept, too,
// because only it shows a helper thread that takes the core in slices longer than a sample.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace weft::bench {

/// The summary of a set of samples. All zero when `count` is zero.
struct summary {
  std::size_t count = 0;
  double min = 0;
  double p10 = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double max = 0;
  double mean = 0;
};

/// The value below which the share `p` (0 to 1) of `sorted` lies, interpolated between neighbours.
/// `sorted` must be in ascending order; throws std::invalid_argument when it is empty.
double percentile(std::span<const double> sorted, double p);

/// The median of `samples`, in any order; throws std::invalid_argument when there are none.
double median(std::vector<double> samples);

/// All percentiles of `samples`, in any order.
summary summarise(std::vector<double> samples);

/// The mean of rates of equal amounts of work: the whole work by the whole time. 0 without samples.
double harmonic_mean(std::span<const double> rates);

/// a[i] / b[i] for every round i that both have measured (the shorter decides). Both figures of a
/// pair were taken moments apart, so drift of the machine cancels; the median of the pairs is the
/// ratio to report.
std::vector<double> paired_ratios(std::span<const double> a, std::span<const double> b);

/// The median of paired_ratios(a, b); throws std::invalid_argument when there are none.
double median_ratio(std::span<const double> a, std::span<const double> b);

}  // namespace weft::bench
