// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "plot/scale.hpp"
#include "plot/text.hpp"

namespace weft::plot {
namespace {

constexpr double slack = 1e-9;  // what rounding does to values at the ends

bool within(double value, range shown) {
  const double margin = slack * std::max(std::abs(shown.low), std::abs(shown.high));
  return value >= shown.low - margin && value <= shown.high + margin;
}

std::vector<double> linear_values(range shown, int count) {
  const double width = shown.high - shown.low;
  double step = std::pow(10.0, std::floor(std::log10(width / count)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0})
    if (std::floor(shown.high / (factor * step) + slack) -
            std::ceil(shown.low / (factor * step) - slack) <
        count) {
      step *= factor;
      break;
    }
  std::vector<double> values;
  const auto first = static_cast<long>(std::ceil(shown.low / step - slack));
  const auto last = static_cast<long>(std::floor(shown.high / step + slack));
  for (long i = first; i <= last; ++i) values.push_back(static_cast<double>(i) * step);
  return values;
}

/// Powers of `base` within the range, every n-th one: the smallest n with at most `count` of them.
std::vector<double> powers(double base, range shown, int count) {
  const auto level = [&](double value) { return std::log2(value) / std::log2(base); };
  const auto first = static_cast<int>(std::ceil(level(shown.low) - slack));
  const auto last = static_cast<int>(std::floor(level(shown.high) + slack));
  std::vector<double> values;
  for (int step = 1;; ++step) {
    values.clear();
    for (int i = first; i <= last; ++i)
      if (i % step == 0) values.push_back(std::pow(base, i));
    if (std::ssize(values) <= count) return values;
  }
}

/// Decades; with 2 and 5 times them, or 3 times, where the range has few.
std::vector<double> decimal_values(range shown, int count) {
  const double low = std::pow(10.0, std::floor(std::log10(shown.low) + slack));
  for (const auto& factors : {std::initializer_list<double>{1, 2, 5}, {1, 3}}) {
    std::vector<double> values;
    for (double decade = low; decade <= shown.high * (1 + slack); decade *= 10)
      for (const double factor : factors)
        if (within(factor * decade, shown) && factor * decade >= shown.low * (1 - slack))
          values.push_back(factor * decade);
    if (std::ssize(values) <= count && !values.empty()) return values;
  }
  return powers(10, shown, count);
}

}  // namespace

std::vector<tick> ticks_of(scale_kind kind, range shown, std::string_view unit, int count) {
  std::vector<double> values;
  if (kind == scale_kind::linear) values = linear_values(shown, count);
  if (kind == scale_kind::log2) values = powers(2, shown, count);
  if (kind == scale_kind::log10) values = decimal_values(shown, count);
  // A narrow logarithmic range may hold no power.
  if (values.size() < 2 && kind != scale_kind::linear) values = linear_values(shown, count);
  std::vector<tick> result;
  result.reserve(values.size());
  for (const double value : values) result.push_back({value, value_text(value, unit)});
  return result;
}

}  // namespace weft::plot
