// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "plot/chart.hpp"
#include "support/catch.hpp"
#include "xml.hpp"

using namespace weft::plot;
using weft::tests::count_of;
using weft::tests::xml_fault;

namespace {

chart two_series(chart_kind kind) {
  chart result{.id = "one", .title = "a <b> & \"c\"", .description = "it's"};
  result.kind = kind;
  result.x = {.label = "message size", .unit = "bytes", .scale = scale_kind::log2};
  result.y = {.label = "time", .unit = "µs", .scale = scale_kind::log10};
  result.all.push_back(
      {.name = "weft <1> & more", .points = {{8, 0.2, 0.1, 0.3}, {1024, 1}, {65536, 9, 8, 11}}});
  result.all.push_back(
      {.name = "paper: \"x\"", .kind = series_kind::quoted, .points = {{8, 4}}, .like = 0});
  return result;
}

}  // namespace

TEST_CASE(
    "a chart is well-formed, with an element for each series and a marker with its value for each "
    "point") {
  for (const auto kind : {chart_kind::lines, chart_kind::bars})
    for (const bool alone : {false, true}) {
      const std::string svg = svg_of(two_series(kind), alone);
      CHECK(xml_fault(svg) == "");
      CHECK(count_of("<g class=\"series ", svg) == 2);
      CHECK(count_of("data-name=\"weft &lt;1&gt; &amp; more\"", svg) == 1);
      CHECK(count_of("µs (0.1 to 0.3)", svg) == 1);
      CHECK((svg.find("<style>") != std::string::npos) == alone);
      CHECK(svg.find("<b>") == std::string::npos);
    }
}

TEST_CASE(
    "a chart without a series, without a point, or with points that have no place is still one") {
  constexpr double none = no_value;
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const auto kind : {chart_kind::lines, chart_kind::bars})
    for (const auto scale : {scale_kind::linear, scale_kind::log2, scale_kind::log10}) {
      chart what = two_series(kind);
      what.x.scale = what.y.scale = scale;
      what.all.clear();
      CHECK(xml_fault(svg_of(what, true)) == "");
      what.all.push_back({.name = "empty", .points = {}});
      CHECK(count_of("<g class=\"series ", svg_of(what, true)) == 1);
      what.all.push_back(
          {.name = "odd", .points = {{none, 1}, {1, none}, {2, infinite}, {3, 3, none, 4}}});
      const std::string svg = svg_of(what, true);
      CHECK(xml_fault(svg) == "");
      CHECK(svg.find("3 points are not shown") != std::string::npos);
      CHECK(svg.find("nan") == std::string::npos);
      CHECK(svg.find("inf") == std::string::npos);
    }
}

TEST_CASE("zero is not drawn on a logarithmic axis, and the picture says so") {
  chart what = two_series(chart_kind::lines);
  what.all[0].points.insert(what.all[0].points.begin(), point{0, 0.1});
  CHECK(svg_of(what, true).find("1 point is not shown: zero") != std::string::npos);
}

TEST_CASE("one bad sample does not squeeze all others: its spread is cut off") {
  chart what = two_series(chart_kind::lines);
  what.all[0].points[1].low = 1;
  what.all[0].points[1].high = 1e6;
  const std::string svg = svg_of(what, true);
  CHECK(svg.find("A spread goes beyond the axis.") != std::string::npos);
  CHECK(svg.find(">100\xE2\x80\x89"
                 "000<") == std::string::npos);
}

TEST_CASE("a series that is like another has its colour, all others have their own") {
  chart what = two_series(chart_kind::lines);
  what.all.push_back({.name = "third", .points = {{8, 1}}});
  const std::string svg = svg_of(what, true);
  CHECK(count_of("<g class=\"series s0", svg) == 2);
  CHECK(count_of("<g class=\"series s1", svg) == 1);
}
