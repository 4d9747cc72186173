// SPDX-License-Identifier: Apache-2.0
// The findings as SVG.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "scale/report.hpp"

namespace scale {

namespace {

constexpr double width = 330, height = 260, left = 52, right = 70, top = 30, bottom = 36;
constexpr std::array<const char*, 5> colours{"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#8c564b"};

/// One logarithmic axis.
class axis {
 public:
  axis(double from, double to, double begin, double end) noexcept
      : from_(std::log10(from)), to_(std::log10(to)), begin_(begin), end_(end) {}
  double at(double x) const noexcept {
    const double share = to_ > from_ ? (std::log10(x) - from_) / (to_ - from_) : 0.5;
    return begin_ + share * (end_ - begin_);
  }

 private:
  double from_, to_, begin_, end_;
};

using lines = std::map<std::size_t, std::vector<finding>>;  // by size

std::string text(double x, double y, std::string_view what, const char* more = "") {
  return fmt::format("<text x='{:.1f}' y='{:.1f}' {}>{}</text>\n", x, y, more, what);
}

template <class Y>
std::string curve(const std::vector<finding>& of, const axis& x, const axis& y,
                  const std::string& style, Y height_of) {
  std::string points;
  for (const finding& f : of)
    points += fmt::format("{:.1f},{:.1f} ", x.at(f.ranks), y.at(height_of(f)));
  return fmt::format("<polyline points='{}' fill='none' {}/>\n", points, style);
}

std::string panel(kind what, const lines& all, double shift) {
  double low = 1e300, high = 0, fewest = 1e300, most = 0;
  for (const auto& [bytes, of] : all)
    for (const finding& f : of) {
      low = std::min({low, f.cost.microseconds, f.bound.least()});
      high = std::max({high, f.cost.microseconds, f.bound.least()});
      fewest = std::min<double>(fewest, f.ranks);
      most = std::max<double>(most, f.ranks);
    }
  low = std::pow(10, std::floor(std::log10(low)));
  high = std::pow(10, std::ceil(std::log10(high)));
  const axis x(fewest, most, left, width - right), y(low, high, height - bottom, top);
  std::string out = fmt::format("<g transform='translate({:.0f},0)'>\n", shift);
  out += text(left, top - 12, weft::collectives::name_of(what), "font-weight='bold'");
  for (double t = low; t <= high * 1.01; t *= 10) {
    out += fmt::format("<path d='M{:.1f} {:.1f}H{:.1f}' stroke='#ddd'/>\n", left, y.at(t),
                       width - right);
    out += text(left - 4, y.at(t) + 4, fmt::format("{:g}", t), "text-anchor='end'");
  }
  for (const finding& f : all.begin()->second)
    out +=
        text(x.at(f.ranks), height - bottom + 16, std::to_string(f.ranks), "text-anchor='middle'");
  std::size_t next = 0;
  for (const auto& [bytes, of] : all) {
    const std::string colour = fmt::format("stroke='{}'", colours[next++ % colours.size()]);
    out += curve(of, x, y, colour + " stroke-width='2'",
                 [](const finding& f) { return f.cost.microseconds; });
    out += curve(of, x, y, colour + " stroke-dasharray='4 3'",
                 [](const finding& f) { return f.bound.least(); });
    if (bytes != 0)
      out += text(width - right + 5, y.at(of.back().cost.microseconds) + 4,
                  fmt::format("{} B", bytes));
  }
  return out + "</g>\n";
}

}  // namespace

std::string drawing(const std::vector<finding>& all) {
  std::map<kind, lines> panels;
  for (const finding& f : all)
    if (f.chosen) panels[f.what.what][f.what.bytes].push_back(f);
  std::string out = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{:.0f}' height='{:.0f}' "
      "font-family='sans-serif' font-size='11'>\n<rect width='100%' height='100%' fill='white'/>\n",
      width * static_cast<double>(panels.size()), height);
  double shift = 0;
  for (const auto& [what, of] : panels) {
    out += panel(what, of, shift);
    shift += width;
  }
  out += text(left, height - 4, "ranks; µs, solid: simulated, dashed: lower bound");
  return out + "</svg>\n";
}

}  // namespace scale
