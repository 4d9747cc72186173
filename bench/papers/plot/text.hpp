// SPDX-License-Identifier: Apache-2.0
// Text in pictures and pages: escaping, widths without a font, and numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::plot {

/// `text` for the content or an attribute of XML and HTML: `<>&"'` as entities. Bytes that are not
/// UTF-8, and characters that XML does not allow, become U+FFFD: programs print anything.
std::string escaped(std::string_view text);

/// An estimate of the width of `text` in the units of `font_size`, for a sans-serif font. It is
/// rather too large than too small: layouts leave this much room.
double text_width(std::string_view text, double font_size);

/// `text`, or its beginning and an ellipsis, so that it is at most `width` wide.
std::string shortened(std::string_view text, double width, double font_size);

/// `text` in lines of at most `width`, broken between words; the last one that there can be is
/// shortened.
/// \param most lines, at least one
std::vector<std::string> wrapped(std::string_view text, double width, double font_size,
                                 std::size_t most);

/// Three significant digits, thousands apart: "0.136", "27.5", "15 240", "1.2 × 10⁹". "–" for NaN
/// and infinity.
std::string number_text(double value);

/// A value with its unit: bytes with binary prefixes ("64 K", "1 M", "100"), all else as
/// number_text.
std::string value_text(double value, std::string_view unit);

/// A length or coordinate in SVG, with two digits behind the point at most.
std::string coordinate(double value);

}  // namespace weft::plot
