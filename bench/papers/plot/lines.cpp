// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plot/canvas.hpp"
#include "plot/drawing.hpp"
#include "plot/style.hpp"
#include "plot/text.hpp"

namespace weft::plot {
namespace {

constexpr double plot_height = 236;
constexpr double swatch = 30;

struct frame {
  double left;
  double right = picture_width - 12;
  double top;
  double bottom;
  scale x;
  scale y;
  range y_range;
};

/// A line with its marker for each series, in as many rows as needed.
void draw_legend(canvas& on, const chart& what, const std::vector<std::size_t>& styles) {
  double x = 2;
  on.grow(line_height);
  for (std::size_t i = 0; i != what.all.size(); ++i) {
    const bool none = shown_points(what, what.all[i]).empty();
    const std::string name = shortened(what.all[i].name + (none ? " (no values)" : ""),
                                       picture_width - swatch - 8, font_size);
    const double width = swatch + 6 + text_width(name, font_size) + 14;
    if (x > 2 && x + width - 14 > picture_width) {
      x = 2;
      on.grow(line_height + 1);
    }
    const double middle = on.height() - 8;
    on.raw(fmt::format("<g class=\"{}\" data-legend=\"{}\"><path class=\"line\" d=\"M{} {}h{}\"/>",
                       class_of(what.all[i], styles[i]).substr(7), escaped(what.all[i].name),
                       coordinate(x), coordinate(middle), coordinate(swatch)));
    on.raw(open_marker(styles[i], x + swatch / 2, middle) + "</path>");
    on.text("", x + swatch + 6, middle + 4.5, anchor::start, name);
    on.raw("</g>");
    x += width;
  }
  on.grow(6);
}

void draw_axes(canvas& on, const chart& what, const frame& in, const std::vector<tick>& xs,
               const std::vector<tick>& ys) {
  for (const tick& one : ys) {
    const double y = in.y.at(one.value);
    on.line("grid", in.left, y, in.right, y);
    on.text("soft", in.left - 6, y + 4.5, anchor::end, one.label);
  }
  on.line("base", in.left, in.bottom, in.right, in.bottom);
  for (const tick& one : xs) {
    const double x = in.x.at(one.value);
    on.line("base", x, in.bottom, x, in.bottom + 4);
    // The outermost labels stay inside of the picture.
    const double half = text_width(one.label, font_size) / 2;
    on.text("soft", std::min(x, picture_width - 2 - half), in.bottom + 17, anchor::middle,
            one.label);
  }
  if (what.rule && has_place(*what.rule, what.y.scale))
    on.line("rule", in.left, in.y.at(*what.rule), in.right, in.y.at(*what.rule));
}

void draw_series(canvas& on, const chart& what, const frame& in, std::size_t index,
                 std::size_t style) {
  const series& one = what.all[index];
  std::vector<std::pair<double, double>> upper, lower, middle;
  for (const point& at : shown_points(what, one)) {
    const double x = in.x.at(at.x);
    middle.emplace_back(x, in.y.at(at.y));
    if (!has_place(at.low, what.y.scale) || !has_place(at.high, what.y.scale)) continue;
    upper.emplace_back(x, cut(in.y, in.y_range, at.high));
    lower.emplace_back(x, cut(in.y, in.y_range, at.low));
  }
  on.raw(fmt::format("<g class=\"{}\" data-name=\"{}\">", class_of(one, style), escaped(one.name)));
  if (upper.size() > 1) {
    upper.insert(upper.end(), lower.rbegin(), lower.rend());
    on.raw(fmt::format("<path class=\"band\" d=\"{}Z\"/>", path_through(upper)));
  } else if (upper.size() == 1) {
    on.line("spread", upper[0].first, upper[0].second, lower[0].first, lower[0].second);
  }
  if (middle.size() > 1)
    on.raw(fmt::format("<path class=\"line\" d=\"{}\"/>", path_through(middle)));
  for (const point& at : shown_points(what, one))
    on.raw(open_marker(style, in.x.at(at.x), in.y.at(at.y)) + "<title>" +
           escaped(hover_text(what, one, at)) + "</title></path>");
  on.raw("</g>");
}

std::vector<tick> category_ticks(const std::vector<std::string>& categories, double room) {
  std::vector<tick> result;
  for (std::size_t i = 0; i != categories.size(); ++i)
    result.push_back(
        {static_cast<double>(i),
         shortened(categories[i], room / static_cast<double>(categories.size()), font_size)});
  return result;
}

}  // namespace

void draw_lines(canvas& on, const chart& what) {
  const auto styles = styles_of(what);
  draw_legend(on, what, styles);

  const axis_values values = values_of(what);
  const range y_range = round_range(values.y, what.y.scale, true);
  const auto y_ticks = ticks_of(what.y.scale, y_range, what.y.unit, 8);
  double left = 0;
  for (const tick& one : y_ticks) left = std::max(left, text_width(one.label, font_size));
  left += 10;

  on.grow(line_height);
  on.text("soft", 2, on.height() - 5, anchor::start, "↑ " + label_of(what.y));
  const double top = on.height() + 4;
  const double bottom = top + plot_height;
  const auto count = static_cast<double>(what.categories.size());
  const range x_range =
      what.categories.empty() ? close_range(values.x, what.x.scale) : range{-0.5, count - 0.5};
  const double right = picture_width - 12;
  const frame in{.left = left,
                 .top = top,
                 .bottom = bottom,
                 .x = scale(what.x.scale, x_range, left, right),
                 .y = scale(what.y.scale, y_range, bottom, top),
                 .y_range = y_range};
  draw_axes(on, what, in,
            what.categories.empty() ? ticks_of(what.x.scale, x_range, what.x.unit, 8)
                                    : category_ticks(what.categories, right - left),
            y_ticks);
  for (std::size_t i = 0; i != what.all.size(); ++i) draw_series(on, what, in, i, styles[i]);

  on.grow(4 + plot_height + 20 + line_height);
  on.text("soft", right, on.height() - 3, anchor::end, label_of(what.x) + " →");
  on.grow(2);
  on.paragraph("soft", cut_note(what, y_range));
}

}  // namespace weft::plot
