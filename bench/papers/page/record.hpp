// SPDX-License-Identifier: Apache-2.0
// What a command printed and how it ended, kept in files, so that a page can be drawn again without
// another run.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "output/json_lines.hpp"

namespace weft::bench::page {

struct record {
  std::string command;  ///< as one would type it
  double seconds = 0;   ///< of all runs
  std::string problem;  ///< empty: it ended well
  std::vector<json> lines;
  int runs = 1;
  /// How many cores other processes used, before or during a run: the most of all runs. Nothing in
  /// records of before this was measured.
  std::optional<double> load{};
  /// Nanoseconds that a cache line took from core to core before a run or after it: the most of all
  /// runs. Nothing with one core, and in the guest.
  std::optional<double> line_ns{};

  bool ok() const noexcept { return problem.empty() && !lines.empty(); }
};

/// Records by the key of their command, "PAPER.COMMAND".
using records = std::map<std::string, record>;

/// Adds a further run: its lines have its number as "run". Its problem, if it has one, becomes that
/// of the record.
void add_run(record& to, record further);

/// Writes `raw`/NAME.jsonl (the lines as they are) and `raw`/NAME.run.json (all else).
/// Throws std::runtime_error with the file's name when that fails.
void save_record(const std::filesystem::path& raw, const std::string& name, const record& what);

/// Reads both; nothing if one of them is missing or broken.
std::optional<record> load_record(const std::filesystem::path& raw, const std::string& name);

/// Writes a file in one step: a reader finds the old content or the new one.
void write_file(const std::filesystem::path& to, const std::string& content);

/// The content of a file; nothing if it cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& from);

}  // namespace weft::bench::page
