// SPDX-License-Identifier: Apache-2.0
#include "output/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace weft::bench {
namespace {

/// The number of code points: fmt counts these for a width.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

}  // namespace

table::table(std::vector<std::string> headers) { rows_.push_back(std::move(headers)); }

void table::row(std::vector<std::string> cells) {
  if (cells.size() > rows_.front().size())
    throw std::invalid_argument("a table row has more cells than the table has columns");
  cells.resize(rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::string table::text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& cells : rows_)
    for (std::size_t i = 0; i < cells.size(); ++i)
      widths[i] = std::max(widths[i], width_of(cells[i]));

  std::string out;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string fill(widths[i] - width_of(rows_[r][i]), ' ');
      const bool left = i == 0 || i >= left_from_;
      line += (i == 0 ? "" : "  ") + (left ? rows_[r][i] + fill : fill + rows_[r][i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
    if (r > 0) continue;
    std::size_t total = 2 * (widths.size() - 1);
    for (const auto width : widths) total += width;
    out += std::string(total, '-') + '\n';
  }
  return out;
}

void table::print(std::FILE* out) const { fmt::print(out, "{}", text()); }

std::string size_text(std::size_t bytes) {
  constexpr std::size_t kib = 1024;
  constexpr std::size_t mib = kib * kib;
  if (bytes != 0 && bytes % mib == 0) return fmt::format("{} MiB", bytes / mib);
  if (bytes != 0 && bytes % kib == 0) return fmt::format("{} KiB", bytes / kib);
  return fmt::format("{} B", bytes);
}

std::string figure_text(double value) {
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  const int digits = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(3 - digits, 0, 6));
}

}  // namespace weft::bench
