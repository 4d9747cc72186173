// SPDX-License-Identifier: Apache-2.0
// Output of results: JSON lines for programs, a table for users.
#pragma once

#include <string>
#include <vector>

#include "output/json_lines.hpp"
#include "output/table.hpp"

namespace weft::bench {

/// A column of the table and the key in the JSON lines that it shows.
struct column {
  std::string title;
  std::string key;
};

/// The percentiles that follow the figure in most tables.
std::vector<column> with_percentiles(std::vector<column> first);

/// For one process, one thread.
class report {
 public:
  report(std::vector<column> columns, bool as_json);

  /// A line above the table; nothing in JSON.
  void title(const std::string& text);
  /// Shows the present measurement on a terminal.
  void measuring(const std::string& what);
  /// One result; as JSON it is written at once.
  void add(const json& line);
  /// Prints the table, and below it what follows from it, if anything.
  void finish(const std::string& conclusion = {});

 private:
  std::vector<column> columns_;
  table table_;
  bool as_json_;
  bool shown_ = false;
};

}  // namespace weft::bench
