// SPDX-License-Identifier: Apache-2.0
#include "plot/scale.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::plot {
namespace {

std::vector<double> placed(std::span<const double> values, scale_kind kind) {
  std::vector<double> result;
  std::copy_if(values.begin(), values.end(), std::back_inserter(result),
               [&](double value) { return has_place(value, kind); });
  return result;
}

/// The smallest of 1, 2, 5, 10 times a power of ten that is not below `value`.
double round_up(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= value * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

double round_down(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double factor : {5.0, 2.0})
    if (factor * power <= value * (1 + 1e-9)) return factor * power;
  return power;
}

range around_linear(double low, double high, bool from_zero) {
  if (from_zero) {
    low = std::min(low, 0.0);
    high = std::max(high, 0.0);
  }
  if (low == high) {
    const double margin = low == 0 ? 1 : std::abs(low) / 2;
    return from_zero ? range{0, 1} : range{low - margin, high + margin};
  }
  const double step = round_up((high - low) / 8);
  return {std::floor(low / step + 1e-9) * step, std::ceil(high / step - 1e-9) * step};
}

range around_log(double low, double high, scale_kind kind) {
  if (kind == scale_kind::log2) {
    low = std::exp2(std::floor(std::log2(low) + 1e-9));
    high = std::exp2(std::ceil(std::log2(high) - 1e-9));
    return low == high ? range{low / 2, high * 2} : range{low, high};
  }
  low = round_down(low);
  high = round_up(high);
  return low == high ? range{low / 10, high * 10} : range{low, high};
}

}  // namespace

bool has_place(double value, scale_kind kind) noexcept {
  constexpr double most = 1e100;  // further on, ratios of values are not finite
  if (!(std::abs(value) <= most)) return false;
  return kind == scale_kind::linear || value >= 1 / most;
}

range round_range(std::span<const double> values, scale_kind kind, bool from_zero) {
  const auto shown = placed(values, kind);
  if (shown.empty()) return kind == scale_kind::linear ? range{0, 1} : range{1, 10};
  const auto [low, high] = std::minmax_element(shown.begin(), shown.end());
  return kind == scale_kind::linear ? around_linear(*low, *high, from_zero)
                                    : around_log(*low, *high, kind);
}

range close_range(std::span<const double> values, scale_kind kind) {
  const auto shown = placed(values, kind);
  if (shown.empty()) return kind == scale_kind::linear ? range{0, 1} : range{1, 10};
  const auto [low, high] = std::minmax_element(shown.begin(), shown.end());
  constexpr double share = 0.03;
  if (kind == scale_kind::linear) {
    const double margin =
        *low == *high ? std::max(std::abs(*low) / 2, 0.5) : (*high - *low) * share;
    return {*low - margin, *high + margin};
  }
  const double margin = *low == *high ? 2 : std::pow(*high / *low, share);
  return {*low / margin, *high * margin};
}

scale::scale(scale_kind kind, range shown, double first, double last)
    : kind_(kind), low_(level(shown.low)), high_(level(shown.high)), first_(first), last_(last) {}

double scale::at(double value) const {
  return first_ + (level(value) - low_) / (high_ - low_) * (last_ - first_);
}

double scale::level(double value) const {
  return kind_ == scale_kind::linear ? value : std::log2(value);
}

}  // namespace weft::plot
