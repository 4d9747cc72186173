// SPDX-License-Identifier: Apache-2.0
// What a series looks like. Not for use outside of this folder.
#pragma once

#include <string>

#include "plot/chart.hpp"

namespace weft::plot {

/// The number of colours and of markers. Both go round together; dashes tell the rounds apart.
inline constexpr std::size_t style_count = 8;

/// The numbers of the styles of all series: each its own, except those that are `like` another.
std::vector<std::size_t> styles_of(const chart& what);

/// The class attribute's value for lines and markers of a series.
std::string class_of(const series& what, std::size_t style);

/// The marker of a style as an element without its end, so that a <title> can follow: "<path
/// class='marker' d='...'>"; its element name is always path.
std::string open_marker(std::size_t style, double x, double y);

}  // namespace weft::plot
