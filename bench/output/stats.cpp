// SPDX-License-Identifier: Apache-2.0
#include "output/stats.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace weft::bench {

double percentile(std::span<const double> sorted, double p) {
  if (sorted.empty()) throw std::invalid_argument("percentile of no samples");
  const double place = std::clamp(p, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const auto above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - std::floor(place));
}

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return percentile(samples, 0.5);
}

summary summarise(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  return {.count = samples.size(),
          .min = samples.front(),
          .p10 = percentile(samples, 0.10),
          .p50 = percentile(samples, 0.50),
          .p90 = percentile(samples, 0.90),
          .p99 = percentile(samples, 0.99),
          .max = samples.back(),
          .mean = std::accumulate(samples.begin(), samples.end(), 0.0) /
                  static_cast<double>(samples.size())};
}

double harmonic_mean(std::span<const double> rates) {
  if (rates.empty()) return 0;
  double time = 0;
  for (const double rate : rates) time += 1 / rate;
  return static_cast<double>(rates.size()) / time;
}

std::vector<double> paired_ratios(std::span<const double> a, std::span<const double> b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (b[i] != 0) ratios.push_back(a[i] / b[i]);
  return ratios;
}

double median_ratio(std::span<const double> a, std::span<const double> b) {
  return median(paired_ratios(a, b));
}

}  // namespace weft::bench
