// SPDX-License-Identifier: Apache-2.0
#include "page/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace weft::bench::page {
namespace {

/// Messages of programs may hold bytes that are no UTF-8.
std::string dumped(const json& what, int indent = -1) {
  return what.dump(indent, ' ', false, json::error_handler_t::replace);
}

}  // namespace

void write_file(const std::filesystem::path& to, const std::string& content) {
  const auto next = to.string() + ".next";
  {
    std::ofstream out(next, std::ios::binary);
    out << content;
    out.close();
    if (!out) throw std::runtime_error(fmt::format("cannot write {}", next));
  }
  std::filesystem::rename(next, to);
}

std::optional<std::string> read_file(const std::filesystem::path& from) {
  std::ifstream in(from, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void add_run(record& to, record further) {
  ++to.runs;
  to.seconds += further.seconds;
  if (!further.problem.empty()) to.problem = fmt::format("run {}: {}", to.runs, further.problem);
  if (further.load) to.load = std::max(to.load.value_or(0), *further.load);
  if (further.line_ns) to.line_ns = std::max(to.line_ns.value_or(0), *further.line_ns);
  for (json& line : further.lines) {
    line["run"] = to.runs;
    to.lines.push_back(std::move(line));
  }
}

void save_record(const std::filesystem::path& raw, const std::string& name, const record& what) {
  std::filesystem::create_directories(raw);
  std::string lines;
  for (const json& line : what.lines) lines += dumped(line) + '\n';
  write_file(raw / (name + ".jsonl"), lines);
  json how = {{"command", what.command},
              {"seconds", what.seconds},
              {"problem", what.problem},
              {"runs", what.runs}};
  if (what.load) how["load"] = *what.load;
  if (what.line_ns) how["line_ns"] = *what.line_ns;
  write_file(raw / (name + ".run.json"), dumped(how, 1) + '\n');
}

std::optional<record> load_record(const std::filesystem::path& raw, const std::string& name) {
  const auto lines = read_file(raw / (name + ".jsonl"));
  const auto how = read_file(raw / (name + ".run.json"));
  if (!lines || !how) return std::nullopt;
  const json parsed = json::parse(*how, nullptr, false);
  if (!parsed.is_object()) return std::nullopt;
  record result{.command = parsed.value("command", ""),
                .seconds = parsed.value("seconds", 0.0),
                .problem = parsed.value("problem", ""),
                .lines = parse_lines(*lines),
                .runs = parsed.value("runs", 1)};
  if (parsed.contains("load") && parsed["load"].is_number())
    result.load = parsed["load"].get<double>();
  if (parsed.contains("line_ns") && parsed["line_ns"].is_number())
    result.line_ns = parsed["line_ns"].get<double>();
  return result;
}

}  // namespace weft::bench::page
