// SPDX-License-Identifier: Apache-2.0
// The two kinds of charts, and what they share. Not for use outside of this folder.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "plot/canvas.hpp"
#include "plot/chart.hpp"

namespace weft::plot {

void draw_lines(canvas& on, const chart& what);
void draw_bars(canvas& on, const chart& what);

/// The points that have a place on both axes.
std::vector<point> shown_points(const chart& what, const series& of);

/// The values that the axes must hold: of points that have a place, with their spreads as far as
/// these are of the same order, and the rule.
struct axis_values {
  std::vector<double> x;
  std::vector<double> y;
};
axis_values values_of(const chart& what);

/// A note if the spread of a point goes beyond the y axis; else empty.
std::string cut_note(const chart& what, range shown);

/// The coordinate of an end of a spread, which stops at the ends of the axis.
inline double cut(const scale& y, range shown, double value) {
  return y.at(std::clamp(value, shown.low, shown.high));
}

}  // namespace weft::plot
