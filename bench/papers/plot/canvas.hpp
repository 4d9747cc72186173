// SPDX-License-Identifier: Apache-2.0
// The elements that charts are made of. Not for use outside of this folder.
#pragma once

#include <string>
#include <string_view>

#include "plot/chart.hpp"

namespace weft::plot {

/// All lengths are of a picture that is this wide: about a phone's width, so that its text is
/// legible there, and larger elsewhere.
inline constexpr double picture_width = 400;
inline constexpr double font_size = 12.5;
inline constexpr double line_height = 18;

enum class anchor : unsigned char { start, middle, end };

/// SVG that grows from the top down. It keeps the height that it has used.
class canvas {
 public:
  double height() const noexcept { return height_; }
  /// Moves the lower end down.
  void grow(double by) noexcept { height_ += by; }

  void line(std::string_view css, double x1, double y1, double x2, double y2);
  /// `x`, `y`: the base line of the text.
  void text(std::string_view css, double x, double y, anchor at, std::string_view content);
  /// SVG as it is.
  void raw(std::string_view svg) { body_ += svg; }
  /// Text from the left edge on, in lines of the picture's width, below all else.
  void paragraph(std::string_view css, std::string_view content);

  /// The whole element.
  std::string finish(const chart& what, bool alone) const;

 private:
  std::string body_;
  double height_ = 4;
};

/// A path that joins the coordinates, "M1 2L3 4".
std::string path_through(const std::vector<std::pair<double, double>>& coordinates);

/// The text of a point for those who point at it: series, x, y and spread, with units.
std::string hover_text(const chart& what, const series& of, const point& at);

/// A label with its unit: "message size (bytes)".
std::string label_of(const axis& what);

}  // namespace weft::plot
