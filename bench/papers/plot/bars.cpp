// SPDX-License-Identifier: Apache-2.0
// Lying bars: names of any length stand beside them, and a phone shows as many as there are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plot/drawing.hpp"
#include "plot/style.hpp"
#include "plot/text.hpp"

namespace weft::plot {
namespace {

constexpr double row_height = 20;
constexpr double thickness = 12;
constexpr double most_of_names = 0.44;  // of the width
constexpr double beside_names = 12;     // left of a name and right of it
constexpr double name_line = 14;        // of a name in several lines

struct row {
  std::string name;
  std::size_t of;  ///< the number of its series
  point at;
  std::vector<std::string> lines = {};  ///< of the name

  double height() const {
    return row_height + name_line * static_cast<double>(std::max<std::size_t>(lines.size(), 1) - 1);
  }
};

struct group {
  std::string heading;
  std::vector<row> rows;
};

/// The x of all points in the order in which they are to be shown, with their names.
std::vector<std::pair<double, std::string>> places_of(const chart& what) {
  std::vector<std::pair<double, std::string>> places;
  if (!what.categories.empty()) {
    for (std::size_t i = 0; i != what.categories.size(); ++i)
      places.emplace_back(static_cast<double>(i), what.categories[i]);
    return places;
  }
  std::vector<double> xs;
  for (const series& one : what.all)
    for (const point& at : one.points)
      if (std::isfinite(at.x)) xs.push_back(at.x);
  std::sort(xs.begin(), xs.end());
  xs.erase(std::unique(xs.begin(), xs.end()), xs.end());
  for (const double x : xs) {
    const std::string unit = what.x.unit == "bytes" ? (x >= 1024 ? "iB" : " B") : ' ' + what.x.unit;
    places.emplace_back(x, value_text(x, what.x.unit) + (what.x.unit.empty() ? "" : unit));
  }
  return places;
}

/// A single series needs no name beside each bar, and a single place no heading.
std::vector<group> groups_of(const chart& what) {
  const auto places = places_of(what);
  std::vector<group> groups;
  if (what.all.size() == 1) groups.emplace_back();
  for (const auto& [x, name] : places) {
    if (what.all.size() != 1) groups.push_back({places.size() > 1 ? name : "", {}});
    for (std::size_t i = 0; i != what.all.size(); ++i)
      for (const point& at : shown_points(what, what.all[i]))
        if (at.x == x)
          groups.back().rows.push_back({what.all.size() == 1 ? name : what.all[i].name, i, at});
  }
  std::erase_if(groups, [](const group& one) { return one.rows.empty(); });
  return groups;
}

bool has_spread(const chart& what, const point& at) {
  return has_place(at.low, what.y.scale) && has_place(at.high, what.y.scale);
}

void draw_row(canvas& on, const chart& what, const scale& y, range shown, double left,
              const row& one, std::size_t style, double middle) {
  const bool dots = what.y.scale != scale_kind::linear;
  const double end = y.at(one.at.y);
  const double begin = dots ? left : y.at(0);
  const std::string hover =
      "<title>" + escaped(hover_text(what, what.all[one.of], one.at)) + "</title>";
  double base = middle + 4.5 - (one.height() - row_height) / 2;
  for (const std::string& line : one.lines) {
    on.text("", left - 8, base, anchor::end, line);
    base += name_line;
  }
  if (dots) {
    on.line("stem", begin, middle, end, middle);
    on.raw(open_marker(style, end, middle) + hover + "</path>");
  } else {
    on.raw(fmt::format("<rect class=\"bar\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">{}</rect>",
                       coordinate(std::min(begin, end)), coordinate(middle - thickness / 2),
                       coordinate(std::abs(end - begin)), coordinate(thickness), hover));
  }
  double after = std::max(begin, end) + (dots ? 5 : 0);
  if (has_spread(what, one.at)) {
    const double low = cut(y, shown, one.at.low), high = cut(y, shown, one.at.high);
    on.line("spread", low, middle, high, middle);
    for (const double x : {low, high}) on.line("spread", x, middle - 3, x, middle + 3);
    after = std::max(after, high);
  }
  on.text("soft", after + 6, middle + 4.5, anchor::start, value_text(one.at.y, what.y.unit));
}

}  // namespace

void draw_bars(canvas& on, const chart& what) {
  const auto styles = styles_of(what);
  auto groups = groups_of(what);
  const axis_values values = values_of(what);
  const range y_range = round_range(values.y, what.y.scale, true);

  double left = 0, beside = 0, height = 0;
  for (const group& some : groups)
    for (const row& one : some.rows) {
      left = std::max(left, text_width(one.name, font_size) + beside_names);
      beside = std::max(beside, text_width(value_text(one.at.y, what.y.unit), font_size) + 8);
    }
  left = std::min(left, picture_width * most_of_names);
  for (group& some : groups) {
    height += (some.heading.empty() ? 0 : row_height) + 4;
    for (row& one : some.rows) {
      one.lines = wrapped(one.name, left - beside_names, font_size, 2);
      height += one.height();
    }
  }
  const double right = picture_width - std::max(beside, 14.0) - 4;
  const scale y(what.y.scale, y_range, left, right);
  const double top = on.height() + 4, bottom = top + height;

  for (const tick& one : ticks_of(what.y.scale, y_range, what.y.unit, 6)) {
    const double x = y.at(one.value);
    on.line("grid", x, top, x, bottom);
    on.text("soft", x, bottom + 15, anchor::middle, one.label);
  }
  if (what.rule && has_place(*what.rule, what.y.scale))
    on.line("rule", y.at(*what.rule), top, y.at(*what.rule), bottom);

  const double zero = what.y.scale == scale_kind::linear ? y.at(std::max(0.0, y_range.low)) : left;
  on.line("base", zero, top, zero, bottom);

  // Rows are drawn in the order of series, so that each series is one element.
  double at = top;
  std::vector<std::pair<const row*, double>> placed;
  for (const group& some : groups) {
    if (!some.heading.empty()) {
      on.text("strong", 2, at + row_height - 5, anchor::start,
              shortened(some.heading, picture_width - 4, font_size));
      at += row_height;
    }
    for (const row& one : some.rows) {
      placed.emplace_back(&one, at + one.height() / 2);
      at += one.height();
    }
    at += 4;
  }
  for (std::size_t i = 0; i != what.all.size(); ++i) {
    on.raw(fmt::format("<g class=\"{}\" data-name=\"{}\">", class_of(what.all[i], styles[i]),
                       escaped(what.all[i].name)));
    for (const auto& [one, middle] : placed)
      if (one->of == i) draw_row(on, what, y, y_range, left, *one, styles[i], middle);
    on.raw("</g>");
  }
  on.grow(4 + height + 18 + line_height);
  on.text("soft", right, on.height() - 3, anchor::end, label_of(what.y) + " →");
  on.grow(2);
  on.paragraph("soft", cut_note(what, y_range));
}

}  // namespace weft::plot
