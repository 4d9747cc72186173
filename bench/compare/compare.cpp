// SPDX-License-Identifier: Apache-2.0
#include "compare/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "compare/report.hpp"
#include "compare/rounds.hpp"
#include "compare/series.hpp"
#include "compare/verdict.hpp"
#include "support/affinity.hpp"
#include "support/hosts.hpp"

namespace weft::bench {
namespace {

std::filesystem::path this_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

template <typename List>
bool holds(const List& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::vector<series> chosen_series(const compare_options& options) {
  auto all = series_for(options.transport, options.rounds, options.effort);
  for (auto& one : all) one.what.hosts = options.hosts;
  if (options.only.empty()) return all;
  std::vector<std::string> names;
  for (const auto& one : all) names.push_back(one.name);
  for (const auto& wanted : options.only)
    if (!holds(names, wanted))
      throw std::invalid_argument(fmt::format("there is no series \"{}\" for {}; there are: {}",
                                              wanted, options.transport, fmt::join(names, ", ")));
  std::erase_if(all, [&](const series& one) { return !holds(options.only, one.name); });
  return all;
}

std::vector<contestant> chosen_contestants(const compare_options& options) {
  std::vector<contestant> all;
  const auto bin = options.bin.empty() ? this_program().parent_path() : options.bin;
  for (const auto& own : options.own) all.push_back(make_own(own));
  for (auto& peer : make_peers(options.transport, bin)) all.push_back(std::move(peer));
  for (auto& limit : make_limits(options.transport)) all.push_back(std::move(limit));
  std::erase_if(all, [&](const contestant& one) { return holds(options.skip, one.name); });
  return all;
}

std::vector<target> targets_of(const std::string& transport, const std::vector<series>& measured) {
  auto targets = targets_for(transport);
  std::erase_if(targets, [&](const target& one) {
    return std::none_of(measured.begin(), measured.end(),
                        [&](const series& other) { return other.name == one.series; });
  });
  return targets;
}

}  // namespace

int compare(const compare_options& options) {
  pair_cores();  // says what is wrong before anything is started
  std::optional<hosts> apart;
  if (options.hosts) {
    hosts::check(options.transport);
    apart.emplace();
  }
  const auto all = chosen_series(options);
  const auto contestants = chosen_contestants(options);
  const auto measured = run_rounds(all, contestants);
  if (measured.cells().empty()) {
    fmt::print(stderr,
               "nothing could be compared: every contestant was left out, for the reasons above\n");
    return 1;
  }

  std::vector<std::string> peers;
  for (const auto& one : contestants)
    if (one.part == role::peer) peers.push_back(one.name);
  const auto own = options.own.empty() ? std::string() : options.own.front().name;
  const auto verdicts = judge(targets_of(options.transport, all), measured, own, peers);
  if (options.as_json)
    print_json(measured, contestants, verdicts, options.transport);
  else
    print_tables(measured, contestants, verdicts);

  const bool all_met = std::all_of(verdicts.begin(), verdicts.end(), [](const verdict& one) {
    return one.result == verdict::outcome::met;
  });
  return options.strict && !all_met ? 1 : 0;
}

void add_own_modes(compare_options& options, const std::vector<std::string>& modes) {
  for (const auto& mode : modes)
    options.own.push_back({.name = "weft " + mode,
                           .program = {this_program().string()},
                           .about = mode == "dedicated"
                                        ? "co_await; the waiting thread polls, a progress thread "
                                          "sleeps until it is needed"
                                        : "co_await; one thread polls",
                           .arguments = {"--transport", options.transport, "--progress", mode}});
}

void add_compare_command(CLI::App& app, std::vector<std::string> modes, int& exit_code) {
  auto options = std::make_shared<compare_options>();
  auto* sub = app.add_subcommand(
      "compare", "weft, other libraries and the limits of the machine, side by side");
  sub->add_option("--transport", options->transport, "Compare over this")
      ->check(CLI::IsMember({"shm", "tcp"}));
  sub->add_option("--rounds", options->rounds,
                  "Interleaved rounds; the median of their ratios counts")
      ->check(CLI::Range(1, 1000));
  sub->add_option("--effort", options->effort, "Factor on the samples of each round")
      ->check(CLI::PositiveNumber);
  sub->add_option("--only", options->only, "Only these series, with commas: latency,bandwidth cold")
      ->delimiter(',');
  sub->add_option("--skip", options->skip, "Leave these contestants out, with commas: MPICH async")
      ->delimiter(',');
  sub->add_option("--bin", options->bin, "Where the peer programs lie, when not beside this one");
  add_hosts_option(*sub, options->hosts);
  sub->add_flag("--json", options->as_json, "JSON lines instead of tables");
  sub->add_flag("--strict", options->strict, "Exit with 1 unless every target is met");
  sub->callback([options, modes = std::move(modes), &exit_code] {
    add_own_modes(*options, modes);
    exit_code = compare(*options);
  });
}

}  // namespace weft::bench
