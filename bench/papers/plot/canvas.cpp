// SPDX-License-Identifier: Apache-2.0
#include "plot/canvas.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "plot/text.hpp"

namespace weft::plot {

void canvas::line(std::string_view css, double x1, double y1, double x2, double y2) {
  body_ += fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>", css,
                       coordinate(x1), coordinate(y1), coordinate(x2), coordinate(y2));
}

void canvas::text(std::string_view css, double x, double y, anchor at, std::string_view content) {
  const char* where = at == anchor::middle ? " text-anchor=\"middle\""
                      : at == anchor::end  ? " text-anchor=\"end\""
                                           : "";
  const std::string shape = css.empty() ? "" : fmt::format(" class=\"{}\"", css);
  body_ += fmt::format("<text{} x=\"{}\" y=\"{}\"{}>{}</text>", shape, coordinate(x), coordinate(y),
                       where, escaped(content));
}

void canvas::paragraph(std::string_view css, std::string_view content) {
  if (content.empty()) return;
  for (const std::string& line :
       wrapped(content, picture_width - 4, font_size, std::numeric_limits<std::size_t>::max())) {
    height_ += line_height;
    text(css, 2, height_ - 4, anchor::start, line);
  }
}

std::string canvas::finish(const chart& what, bool alone) const {
  const std::string id = escaped(what.id);
  std::string points;
  std::size_t count = 0;
  for (const series& one : what.all) count += one.points.size();
  std::string result = fmt::format(
      "<svg class=\"chart\" id=\"{0}\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
      "viewBox=\"0 0 {1} {2}\" aria-labelledby=\"{0}-title {0}-text\" data-series=\"{3}\" "
      "data-points=\"{4}\"><title id=\"{0}-title\">{5}</title><desc id=\"{0}-text\">{6}</desc>",
      id, coordinate(picture_width), coordinate(std::ceil(height_ + 4)), what.all.size(), count,
      escaped(what.title), escaped(what.description));
  if (alone)
    result += fmt::format(
        "<style>{}.ground{{fill:var(--paper)}}</style>"
        "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>",
        style_sheet());
  return result + body_ + "</svg>\n";
}

std::string path_through(const std::vector<std::pair<double, double>>& coordinates) {
  std::string result;
  for (const auto& [x, y] : coordinates)
    result += fmt::format("{}{} {}", result.empty() ? 'M' : 'L', coordinate(x), coordinate(y));
  return result;
}

std::string hover_text(const chart& what, const series& of, const point& at) {
  const auto with_unit = [](double value, const std::string& unit) {
    const std::string text = value_text(value, unit);
    return unit.empty() ? text : text + (unit == "bytes" && value >= 1024 ? "iB" : ' ' + unit);
  };
  const auto number = static_cast<std::size_t>(at.x);
  std::string result = of.name + "\n";
  if (what.categories.empty())
    result += (what.x.label.empty() ? "x" : what.x.label) + ": " + with_unit(at.x, what.x.unit);
  else if (at.x >= 0 && number < what.categories.size())
    result += what.categories[number];
  result +=
      "\n" + (what.y.label.empty() ? "y" : what.y.label) + ": " + with_unit(at.y, what.y.unit);
  if (std::isfinite(at.low) && std::isfinite(at.high))
    result += fmt::format(" ({} to {})", value_text(at.low, what.y.unit),
                          value_text(at.high, what.y.unit));
  return result;
}

std::string label_of(const axis& what) {
  if (what.unit.empty()) return what.label;
  return what.label.empty() ? what.unit : fmt::format("{} ({})", what.label, what.unit);
}

}  // namespace weft::plot
