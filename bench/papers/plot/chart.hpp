// SPDX-License-Identifier: Apache-2.0
// A chart as data, and as SVG. The picture scales to the width that it gets, follows the colours of
// the page (light or dark), and tells series apart by colour and by shape.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "plot/scale.hpp"

namespace weft::plot {

inline constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

struct point {
  double x = 0;  ///< of a chart with categories: the number of the category
  double y = no_value;
  double low = no_value;   ///< the spread of y: 10th percentile
  double high = no_value;  ///< and 90th
};

/// How a series is drawn: measured ones solid and filled, quoted ones dashed and hollow.
enum class series_kind : unsigned char { measured, limit, quoted };

struct series {
  std::string name;
  series_kind kind = series_kind::measured;
  std::vector<point> points{};        ///< lines join them in this order
  std::optional<std::size_t> like{};  ///< takes the colour and shape of the series of this number
};

struct axis {
  std::string label{};
  std::string unit{};  ///< "bytes" has ticks like 64 K
  scale_kind scale = scale_kind::linear;
};

/// Lines are drawn over x; bars lie, in a group for each x, with the names of series beside them.
/// On a logarithmic y axis bars have no meaning: they become dots.
enum class chart_kind : unsigned char { lines, bars };

struct chart {
  std::string id{};           ///< of the SVG element; unique in a page
  std::string title{};        ///< for readers who do not see the picture; shown if `with_title`
  std::string description{};  ///< for them, too
  bool with_title = false;
  chart_kind kind = chart_kind::lines;
  axis x{};
  axis y{};
  std::vector<std::string> categories{};  ///< if not empty, x counts these
  std::vector<series> all{};
  std::optional<double> rule{};      ///< a line at this y, for example at 1 where y is a ratio
  std::vector<std::string> notes{};  ///< below the picture
};

/// The chart as an `svg` element. It holds a `g` of class `series` for each series, also for one
/// without a point to show, and says in a note how many points have no place on the axes.
/// \param alone with the style sheet inside, as a file; in a page, `style_sheet()` is given once.
std::string svg_of(const chart& what, bool alone);

/// The rules that all charts of a page share.
std::string style_sheet();

}  // namespace weft::plot
