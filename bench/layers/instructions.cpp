// SPDX-License-Identifier: Apache-2.0
// The instructions of each step of a small message over shared memory. They do not depend on the
// machine's load, so a test holds them under ceilings.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "counted/counted_loops.hpp"
#include "layers/callgrind.hpp"
#include "layers/instruction_steps.hpp"
#include "stage/report.hpp"

namespace weft::bench::instructions_command {
namespace {

struct request {
  std::vector<std::string> loops;
  std::string count;  // the loop that this process runs, under callgrind
  bool strict = false;
  bool files = false;
  bool as_json = false;
};

std::vector<counted_loop> chosen_loops(const request& wanted) {
  if (wanted.loops.empty()) return counted_loops();
  std::vector<counted_loop> chosen;
  for (const counted_loop& one : counted_loops())
    for (const std::string& name : wanted.loops)
      if (name == one.name) chosen.push_back(one);
  return chosen;
}

json line_of(const counted_loop& loop, const step_counts& of) {
  json line{{"bench", "instructions"}, {"loop", loop.name}, {"title", loop.title}};
  for (std::size_t i = 0; i < step_count; ++i) line[steps[i].name] = of.each[i];
  line["above_ring"] = of.above_ring();
  line["all"] = of.all();
  return line;
}

std::vector<column> columns() {
  std::vector<column> all{{"a message", "title"}};
  for (const step& one : steps) all.push_back({one.name, one.name});
  all.push_back({"above the ring", "above_ring"});
  all.push_back({"all", "all"});
  return all;
}

/// The sources that contribute, for those who want to reduce them.
void print_files(const std::vector<instruction_count>& counts, double messages) {
  std::vector<std::pair<double, std::string>> rows;
  for (const instruction_count& one : counts)
    rows.emplace_back(static_cast<double>(one.instructions) / messages,
                      fmt::format("{:10} {}  in {}", step_of(one), one.file, one.function));
  std::sort(rows.rbegin(), rows.rend());
  for (const auto& [n, text] : rows)
    if (n >= 1) fmt::print("{:7.1f}  {}\n", n, text);
}

/// A line for each step that is above its ceiling.
std::string steps_above(const counted_loop& loop, const step_counts& of) {
  std::string lines;
  const auto ceilings = ceilings_of(loop.name);
  for (std::size_t i = 0; i < step_count; ++i)
    if (ceilings[i] != 0 && of.each[i] > ceilings[i])
      lines += fmt::format("{}: {:.1f} instructions in step {}, and its ceiling is {}\n",
                           loop.title, of.each[i], steps[i].name, ceilings[i]);
  return lines;
}

void measure(const request& wanted) {
  if (!wanted.count.empty()) return run_counted(wanted.count);
  report out(columns(), wanted.as_json);
  out.title("Instructions for a message of 8 bytes over shared memory, by callgrind");
  std::string above;
  for (const counted_loop& loop : chosen_loops(wanted)) {
    out.measuring(loop.title);
    const auto counts = count_instructions({"instructions", "--count", loop.name});
    const step_counts of(counts, loop.messages);
    if (of.all() == 0)
      throw std::runtime_error("callgrind counted nothing: weft was built without its header");
    out.add(line_of(loop, of));
    if (wanted.files) print_files(counts, loop.messages);
    above += steps_above(loop, of);
  }
  out.finish();
  if (wanted.strict && !above.empty()) throw std::runtime_error("above a ceiling:\n" + above);
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("instructions", "Instructions of each step of a small message");
  std::vector<std::string> names;
  for (const counted_loop& one : counted_loops()) names.push_back(one.name);
  sub->add_option("--loop", wanted->loops, "Only these loops")->check(CLI::IsMember(names));
  sub->add_flag("--strict", wanted->strict, "Exit with 1 when a step is above its ceiling");
  auto* json = sub->add_flag("--json", wanted->as_json, "JSON lines instead of a table");
  sub->add_flag("--files", wanted->files, "Also each source file's part")->excludes(json);
  sub->add_option("--count", wanted->count, "Only run this loop: for callgrind")->group("");
  sub->callback([wanted] { measure(*wanted); });
}

}  // namespace weft::bench::instructions_command
