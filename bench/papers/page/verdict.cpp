// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/figure.hpp"
#include "plot/text.hpp"

namespace weft::bench::page {
namespace {

std::optional<value> side(const side_of_claim& what, const figure& in) {
  if (what.number) return value{.x = nullptr, .y = *what.number};
  return value_at(in, what.series, what.x);
}

bool holds(double left, double right, relation is) {
  switch (is) {
    case relation::below:
      return left < right;
    case relation::above:
      return left > right;
    case relation::near:
      break;
  }
  return std::abs(left - right) <= 0.1 * std::max(std::abs(left), std::abs(right));
}

/// Whether the 10th to 90th percentiles of both meet: then noise alone could decide.
bool spreads_meet(const value& left, const value& right) {
  const double left_low = std::isnan(left.low) ? left.y : left.low;
  const double left_high = std::isnan(left.high) ? left.y : left.high;
  const double right_low = std::isnan(right.low) ? right.y : right.low;
  const double right_high = std::isnan(right.high) ? right.y : right.high;
  return left_low <= right_high && right_low <= left_high;
}

}  // namespace

verdict judge(const claim& what, const figure& in, const std::string& unit) {
  const auto left = side(what.left, in), right = side(what.right, in);
  if (!left || !right) return {};
  verdict result{
      .is = holds(left->y, right->y, what.is) ? outcome::agrees : outcome::differs,
      .here = fmt::format("{} against {}{}{}", plot::value_text(left->y, unit),
                          plot::value_text(right->y, unit), unit.empty() ? "" : " ", unit)};
  if (what.is != relation::near && spreads_meet(*left, *right))
    result.here += "; their spreads overlap";
  return result;
}

}  // namespace weft::bench::page
