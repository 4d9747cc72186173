// SPDX-License-Identifier: Apache-2.0
#include "plot/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plot/canvas.hpp"
#include "plot/drawing.hpp"

namespace weft::plot {
namespace {

bool is_shown(const chart& what, const point& at) {
  const bool on_x = what.categories.empty()
                        ? has_place(at.x, what.x.scale)
                        : at.x >= 0 && at.x < static_cast<double>(what.categories.size());
  return on_x && has_place(at.y, what.y.scale);
}

std::string missing_note(const chart& what) {
  std::size_t missing = 0;
  for (const series& one : what.all) missing += one.points.size() - shown_points(what, one).size();
  if (missing == 0) return {};
  const bool log = what.x.scale != scale_kind::linear || what.y.scale != scale_kind::linear;
  return fmt::format("{} not shown: {}.",
                     missing == 1 ? "1 point is" : fmt::format("{} points are", missing),
                     log ? "zero, or below, has no place on a logarithmic axis" : "no number");
}

}  // namespace

std::vector<point> shown_points(const chart& what, const series& of) {
  std::vector<point> result;
  std::copy_if(of.points.begin(), of.points.end(), std::back_inserter(result),
               [&](const point& at) { return is_shown(what, at); });
  return result;
}

axis_values values_of(const chart& what) {
  axis_values result;
  std::vector<double> ends;
  for (const series& one : what.all)
    for (const point& at : shown_points(what, one)) {
      result.x.push_back(at.x);
      result.y.push_back(at.y);
      ends.insert(ends.end(), {at.low, at.high});
    }
  if (what.rule) result.y.push_back(*what.rule);
  if (result.y.empty()) return result;
  // A spread of a single bad sample would leave little room for all else: it is cut off.
  const auto [low, high] = std::minmax_element(result.y.begin(), result.y.end());
  const bool linear = what.y.scale == scale_kind::linear;
  const double margin = linear ? std::max(std::abs(*low), std::abs(*high)) : 0;
  const range allowed = linear ? range{*low - margin, *high + margin} : range{*low / 3, *high * 3};
  for (const double end : ends)
    if (end >= allowed.low && end <= allowed.high) result.y.push_back(end);
  return result;
}

std::string cut_note(const chart& what, range shown) {
  for (const series& one : what.all)
    for (const point& at : shown_points(what, one))
      if (at.low < shown.low || at.high > shown.high) return "A spread goes beyond the axis.";
  return {};
}

std::string svg_of(const chart& what, bool alone) {
  chart placed = what;
  if (!placed.categories.empty()) placed.x.scale = scale_kind::linear;
  if (placed.id.empty()) placed.id = "chart";
  canvas on;
  if (placed.with_title) {
    on.paragraph("strong", placed.title);
    on.grow(6);
  }
  if (placed.kind == chart_kind::bars)
    draw_bars(on, placed);
  else
    draw_lines(on, placed);
  for (const std::string& note : placed.notes) on.paragraph("soft", note);
  if (const auto note = missing_note(placed); !note.empty()) on.paragraph("soft", note);
  return on.finish(placed, alone);
}

}  // namespace weft::plot
