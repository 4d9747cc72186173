// SPDX-License-Identifier: Apache-2.0
#include "plot/style.hpp"

#include <fmt/format.h>

#include <array>

#include "plot/text.hpp"

namespace weft::plot {
namespace {

// Colours after Okabe and Ito, which colour-blind readers can tell apart, darker for white paper
// and lighter for black. Neighbours also differ in lightness.
struct colour {
  const char* on_light;
  const char* on_dark;
};
constexpr std::array<colour, style_count> colours{{{"#0067a8", "#58b0ee"},
                                                   {"#cc4f00", "#ff8f4d"},
                                                   {"#008561", "#37c796"},
                                                   {"#a8478a", "#e79acb"},
                                                   {"#8f6a00", "#e3bd3f"},
                                                   {"#2f8fce", "#9ed6f7"},
                                                   {"#7a1f3d", "#f0667f"},
                                                   {"#5b6470", "#aeb6c0"}}};

// Around (0, 0), of about the same weight for the eye. Circles are arcs, so that all are paths.
constexpr std::array<const char*, style_count> shapes{
    "m-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",           // circle
    "m-3.3-3.3h6.6v6.6h-6.6z",                                    // square
    "m0-4.4l4.2 7.4h-8.4z",                                       // triangle
    "m0-4.8l4.4 4.8l-4.4 4.8l-4.4-4.8z",                          // diamond
    "m0 4.4l4.2-7.4h-8.4z",                                       // triangle, upside down
    "m-1.3-4h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7v-2.6h2.7z",  // plus
    "m0-4.6l4.4 3.2l-1.7 5.1h-5.4l-1.7-5.1z",                     // pentagon
    "m-4.2-2l2.2-2.2l2 2.2l2-2.2l2.2 2.2l-2.2 2l2.2 2l-2.2 2.2l-2-2.2l-2 2.2l-2.2-2.2l2.2-2z"};

std::string variables(const char* colour::*which) {
  std::string result;
  for (std::size_t i = 0; i != style_count; ++i)
    result += fmt::format("--s{}:{};", i, colours[i].*which);
  return result;
}

}  // namespace

std::vector<std::size_t> styles_of(const chart& what) {
  std::vector<std::size_t> styles;
  std::size_t next = 0;
  for (const series& one : what.all)
    styles.push_back(one.like && *one.like < styles.size() ? styles[*one.like] : next++);
  return styles;
}

std::string class_of(const series& what, std::size_t style) {
  const char* kind = what.kind == series_kind::quoted  ? " quoted"
                     : what.kind == series_kind::limit ? " limit"
                                                       : "";
  return fmt::format("series s{}{}{}", style % style_count, kind,
                     style >= style_count ? " again" : "");
}

std::string open_marker(std::size_t style, double x, double y) {
  return fmt::format("<path class=\"marker\" d=\"M{} {}{}\">", coordinate(x), coordinate(y),
                     shapes[style % style_count]);
}

std::string style_sheet() {
  std::string rules = ".chart{--ink:#1c2430;--soft:#5b6470;--grid:#e3e6ea;--paper:#fff;" +
                      variables(&colour::on_light) +
                      "display:block;width:100%;height:auto;"
                      "font:12.5px system-ui,-apple-system,'Segoe UI','Liberation Sans',sans-serif;"
                      "color:var(--ink)}"
                      "@media(prefers-color-scheme:dark){.chart{--ink:#e6e9ee;--soft:#a3acb8;"
                      "--grid:#333b46;--paper:#14181e;" +
                      variables(&colour::on_dark) + "}}";
  for (std::size_t i = 0; i != style_count; ++i)
    rules += fmt::format(".chart .s{0}{{--own:var(--s{0})}}", i);
  rules +=
      ".chart text{fill:currentColor}"
      ".chart .soft{fill:var(--soft)}"
      ".chart .strong{font-weight:600;paint-order:stroke;stroke:var(--paper);stroke-width:4px}"
      ".chart .grid{stroke:var(--grid);stroke-width:1}"
      ".chart .base{stroke:var(--soft);stroke-width:1}"
      ".chart .rule{stroke:var(--soft);stroke-width:1.2;stroke-dasharray:2 3}"
      ".chart .line{fill:none;stroke:var(--own);stroke-width:2;stroke-linejoin:round}"
      ".chart .band{fill:var(--own);fill-opacity:.14}"
      ".chart .marker{fill:var(--own);stroke:var(--own);stroke-width:1.2;stroke-linejoin:round}"
      ".chart .bar{fill:var(--own);stroke:var(--own);stroke-width:1.2}"
      ".chart .stem{stroke:var(--own);stroke-width:1.2;stroke-dasharray:1 3}"
      ".chart .spread{stroke:var(--ink);stroke-width:1.2;opacity:.75}"
      ".chart .again .line{stroke-dasharray:9 3}"
      ".chart .limit .line{stroke-dasharray:1.5 3.5;stroke-linecap:round}"
      ".chart .limit .bar{fill-opacity:.35}"
      ".chart .quoted .line{stroke-dasharray:6 4;stroke-width:1.6}"
      ".chart .quoted .marker{fill:var(--paper);stroke-width:1.6}"
      ".chart .quoted .bar{fill:var(--paper);fill-opacity:0;stroke-dasharray:4 2.5}";
  return rules;
}

}  // namespace weft::plot
