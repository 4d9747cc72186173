// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace weft::bench {

/// Aligned text columns: the first one left, the rest right. Text may be UTF-8.
class table {
 public:
  explicit table(std::vector<std::string> headers);

  /// Adds a row; missing cells stay empty, surplus ones throw std::invalid_argument.
  void row(std::vector<std::string> cells);
  /// Columns from `first` on are words: left-aligned too.
  void left_from(std::size_t first) noexcept { left_from_ = first; }
  std::string text() const;
  void print(std::FILE* out) const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the first holds the headers
  std::size_t left_from_ = static_cast<std::size_t>(-1);
};

/// "8 B", "64 KiB", "4 MiB": the largest unit that divides `bytes`.
std::string size_text(std::size_t bytes);

/// Three significant digits, and never an exponent: "0.0523", "14.1", "15240".
std::string figure_text(double value);

}  // namespace weft::bench
