// SPDX-License-Identifier: Apache-2.0
#include "support/fingerprint.hpp"

#include <fmt/format.h>

#include <cmath>

namespace weft::bench {

void fingerprint::add(std::uint64_t place, double value) noexcept {
  const std::uint64_t mixed = scrambled(place);
  const double weight = 1.0 + static_cast<double>(mixed / groups % 1021);
  sums_[mixed % groups] += weight * value;
  sums_[groups + mixed % groups] += weight * std::fabs(value);
}

std::string fingerprint::difference(const fingerprint& expected, double tolerance) const {
  std::string worst;
  double largest = 0;
  for (std::size_t i = 0; i != groups; ++i) {
    const double apart = std::fabs(sums_[i] - expected.sums_[i]);
    const double allowed = tolerance * expected.sums_[groups + i];
    if (apart <= allowed) continue;
    if (!worst.empty() && !(apart > largest)) continue;
    largest = apart;
    worst = fmt::format("the sum over group {} of its values is {:.17g} instead of {:.17g}", i,
                        sums_[i], expected.sums_[i]);
  }
  return worst;
}

}  // namespace weft::bench
