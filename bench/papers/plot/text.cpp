// SPDX-License-Identifier: Apache-2.0
#include "plot/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace weft::plot {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

/// The bytes of the character that `text` begins with; 0 if it is none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  if (first >= 0xC2 && first <= 0xDF) length = 2;
  if (first >= 0xE0 && first <= 0xEF) length = 3;
  if (first >= 0xF0 && first <= 0xF4) length = 4;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i != length; ++i)
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  // Longer forms than needed, surrogates, and what is above the last character.
  if (first == 0xE0 && byte(1) < 0xA0) return 0;
  if (first == 0xED && byte(1) > 0x9F) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  // U+FFFE and U+FFFF are no characters of XML.
  if (first == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE) return 0;
  return length;
}

std::string_view entity(char c) {
  switch (c) {
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '&':
      return "&amp;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

/// Of the wider ones of common fonts, in hundredths of its size.
int width_of(char c) {
  constexpr std::string_view narrow = "ijl.,:;'|!()[]{}fIt/ ";
  constexpr std::string_view wide = "mwMW@%";
  if (narrow.find(c) != std::string_view::npos) return 34;
  if (wide.find(c) != std::string_view::npos) return 90;
  if (c >= 'A' && c <= 'Z') return 72;
  if (c >= '0' && c <= '9') return 64;
  return 58;
}

/// Digits of the whole part in groups of three, with thin spaces between them.
std::string grouped(std::string whole) {
  for (std::size_t at = whole.size(); at > 3;) {
    at -= 3;
    whole.insert(at, "\xE2\x80\x89");
  }
  return whole;
}

std::string raised(int number) {
  static constexpr std::array<std::string_view, 10> digits{"⁰", "¹", "²", "³", "⁴",
                                                           "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string result;
  for (const char c : fmt::format("{}", number))
    result += c == '-' ? std::string_view("⁻") : digits[static_cast<std::size_t>(c - '0')];
  return result;
}

std::string without_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const char c = text.front();
    const bool control = static_cast<std::uint8_t>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r';
    if (length == 0 || control)
      result += replacement;
    else if (const auto name = entity(c); !name.empty())
      result += name;
    else
      result += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

double text_width(std::string_view text, double font_size) {
  constexpr std::string_view minus = "−";
  int sum = 0;
  for (std::size_t i = 0; i != text.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    if (byte < 0x80) sum += width_of(text[i]);
    if (byte >= 0xC0) sum += text.substr(i, minus.size()) == minus ? 84 : 62;
  }
  return sum * font_size / 100;
}

std::string shortened(std::string_view text, double width, double font_size) {
  if (text_width(text, font_size) <= width) return std::string(text);
  std::string result;
  while (!text.empty()) {
    const auto length = std::max<std::size_t>(character_length(text), 1);
    const auto next = result + std::string(text.substr(0, length));
    if (text_width(next, font_size) + font_size > width) break;
    result = next;
    text.remove_prefix(length);
  }
  return result + "…";
}

std::vector<std::string> wrapped(std::string_view text, double width, double font_size,
                                 std::size_t most) {
  std::vector<std::string> lines;
  while (lines.size() + 1 < most && text_width(text, font_size) > width) {
    std::size_t end = 0;  // behind the last word that fits
    for (std::size_t at = text.find(' '); at != std::string_view::npos; at = text.find(' ', at + 1))
      if (text_width(text.substr(0, at), font_size) <= width) end = at;
    if (end == 0) break;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  lines.push_back(shortened(text, width, font_size));
  return lines;
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return "–";
  if (value == 0) return "0";
  if (value < 0) return "−" + number_text(-value);
  const int exponent = static_cast<int>(std::floor(std::log10(value)));
  if (exponent < -5 || exponent > 8) {
    const std::string factor =
        without_zeros(fmt::format("{:.2f}", value / std::pow(10.0, exponent)));
    return (factor == "1" ? "" : factor + " × ") + "10" + raised(exponent);
  }
  std::string text = without_zeros(fmt::format("{:.{}f}", value, std::clamp(2 - exponent, 0, 8)));
  if (exponent >= 4) return grouped(text);
  return text;
}

std::string value_text(double value, std::string_view unit) {
  if (unit != "bytes" || !(value >= 1024) || !std::isfinite(value)) return number_text(value);
  constexpr std::string_view prefixes = "KMGT";
  std::size_t prefix = 0;
  for (value /= 1024; value >= 1024 && prefix + 1 < prefixes.size(); ++prefix) value /= 1024;
  return number_text(value) + "\xC2\xA0" + prefixes[prefix];
}

std::string coordinate(double value) {
  std::string text = without_zeros(fmt::format("{:.2f}", value));
  return text == "-0" ? "0" : text;
}

}  // namespace weft::plot
