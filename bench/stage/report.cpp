// SPDX-License-Identifier: Apache-2.0
#include "stage/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace weft::bench {
namespace {

std::vector<std::string> titles(const std::vector<column>& columns) {
  std::vector<std::string> result;
  for (const auto& one : columns) result.push_back(one.title);
  return result;
}

std::string cell_text(const json& line, const std::string& key) {
  const auto found = line.find(key);
  if (found == line.end()) return {};
  if (key == "size") return size_text(found->get<std::size_t>());
  if (found->is_string()) return found->get<std::string>();
  return figure_text(found->get<double>());
}

}  // namespace

std::vector<column> with_percentiles(std::vector<column> first) {
  for (const char* key : {"p10", "p90", "p99", "mean"}) first.push_back({key, key});
  return first;
}

report::report(std::vector<column> columns, bool as_json)
    : columns_(std::move(columns)), table_(titles(columns_)), as_json_(as_json) {}

void report::title(const std::string& text) {
  if (as_json_) return;
  fmt::print("{}\n\n", text);
  std::fflush(stdout);
}

void report::measuring(const std::string& what) {
  if (as_json_ || ::isatty(STDERR_FILENO) != 1) return;
  fmt::print(stderr, "\r\033[K{} ...", what);
  std::fflush(stderr);
  shown_ = true;
}

void report::add(const json& line) {
  if (as_json_) return print_line(line);
  std::vector<std::string> cells;
  for (const auto& one : columns_) cells.push_back(cell_text(line, one.key));
  table_.row(std::move(cells));
}

void report::finish(const std::string& conclusion) {
  if (std::exchange(shown_, false)) fmt::print(stderr, "\r\033[K");
  if (as_json_) return;
  table_.print(stdout);
  if (!conclusion.empty()) fmt::print("\n{}\n", conclusion);
  std::fflush(stdout);
}

}  // namespace weft::bench
