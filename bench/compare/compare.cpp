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

/// The series that the user selected, on the hosts that the user selected.
void choose_series(const compare_options& options, lineup& who) {
  if (options.hosts)
    std::erase_if(who.all, [](const series& one) { return one.what.among_many(); });
  if (who.all.empty())
    throw std::invalid_argument("--hosts is for two processes, and these series have more");
  for (auto& one : who.all) one.what.hosts = options.hosts;
  if (options.only.empty()) return;
  std::vector<std::string> names;
  for (const auto& one : who.all) names.push_back(one.name);
  for (const auto& wanted : options.only)
    if (!holds(names, wanted))
      throw std::invalid_argument(fmt::format("there is no series \"{}\" for {}; there are: {}",
                                              wanted, options.transport, fmt::join(names, ", ")));
  std::erase_if(who.all, [&](const series& one) { return !holds(options.only, one.name); });
  std::erase_if(who.targets, [&](const target& one) { return !holds(options.only, one.series); });
}

std::vector<std::string> names_of(const std::vector<contestant>& all, role part) {
  std::vector<std::string> names;
  for (const auto& one : all)
    if (one.part == part) names.push_back(one.name);
  return names;
}

}  // namespace

contestant make_own_mode(const std::string& transport, const std::string& mode) {
  return make_own({.name = "weft " + mode,
                   .program = {this_program().string()},
                   .about = mode == "dedicated"
                                ? "co_await; the waiting thread polls, a progress thread "
                                  "sleeps until it is needed"
                                : "co_await; one thread polls",
                   .arguments = {"--transport", transport, "--progress", mode}});
}

std::filesystem::path compare_options::programs() const {
  return bin.empty() ? this_program().parent_path() : bin;
}

std::vector<contestant> compare_options::installed() const {
  std::vector<contestant> all;
  for (const auto& one : mpi)
    for (auto& who : make_installed(one, transport)) all.push_back(std::move(who));
  for (const auto& one : ucx) all.push_back(make_ucx(one, transport));
  return all;
}

int compare(const compare_options& options, lineup who) {
  pair_cores();  // reports errors before anything is started
  std::optional<hosts> apart;
  if (options.hosts) {
    hosts::check(options.transport);
    apart.emplace();
  }
  choose_series(options, who);
  std::vector<std::string> names;
  for (const auto& one : who.contestants) {
    if (holds(names, one.name))
      throw std::invalid_argument(
          fmt::format("two contestants have the name {}: choose another one", one.name));
    names.push_back(one.name);
  }
  std::erase_if(who.contestants,
                [&](const contestant& one) { return holds(options.skip, one.name); });
  const auto measured = run_rounds(who.all, who.contestants);
  if (measured.cells().empty()) {
    fmt::print(stderr,
               "nothing could be compared: every contestant was left out, for the reasons above\n");
    return 1;
  }

  const auto own = names_of(who.contestants, role::own);
  const auto first = own.empty() ? std::string() : own.front();
  auto judged = own;
  if (!who.judges_all && judged.size() > 1) judged.resize(1);
  const auto verdicts = judge(who.targets, measured, judged, names_of(who.contestants, role::peer));
  if (options.as_json) {
    print_json(who.bench, options.transport, measured, who.contestants,
               who.shows_ratios ? first : std::string(), verdicts);
  } else {
    print_figures(measured, who.contestants, who.shows_means);
    if (who.shows_ratios && !first.empty()) print_ratios(measured, who.contestants, first);
    print_verdicts(verdicts);
    print_failures(measured);
  }

  const bool failed =
      std::any_of(measured.failures().begin(), measured.failures().end(),
                  [&](const failure& one) { return one.wrong || holds(own, one.contestant); });
  const bool all_met = std::all_of(verdicts.begin(), verdicts.end(), [](const verdict& one) {
    return one.result == verdict::outcome::met;
  });
  return failed || (options.strict && !all_met) ? 1 : 0;
}

void add_compare_options(CLI::App& app, compare_options& into,
                         const std::vector<std::string>& transports) {
  app.add_option("--transport", into.transport, "Compare over this")
      ->check(CLI::IsMember(transports));
  app.add_option("--rounds", into.rounds, "Interleaved rounds; the median of their ratios counts")
      ->check(CLI::Range(1, 1000));
  app.add_option("--effort", into.effort, "Factor on the samples of each round")
      ->check(CLI::PositiveNumber);
  app.add_option("--only", into.only, "Only these series, with commas: latency,bandwidth cold")
      ->delimiter(',');
  app.add_option("--skip", into.skip, "Leave these contestants out, with commas: MPICH async")
      ->delimiter(',');
  app.add_option("--bin", into.bin, "Where the programs lie, when not beside this one");
  add_hosts_option(app, into.hosts);
  app.add_flag("--json", into.as_json, "JSON lines instead of tables");
  app.add_flag("--strict", into.strict, "Exit with 1 unless every target is met");
}

void add_installed_options(CLI::App& app, compare_options& into, bool ucx) {
  app.add_option("--mpi", into.mpi,
                 "Another installation of Open MPI or MPICH, as NAME=PREFIX, with mpirun and mpicc "
                 "in PREFIX/bin; its program is built at once. Several with commas")
      ->delimiter(',');
  if (ucx)
    app.add_option("--ucx", into.ucx, "UCX itself, by PREFIX/bin/ucx_perftest. Several with commas")
        ->delimiter(',');
}

/// The best options of the paper on Open MPI over Elan4 for its overall performance (figure 10):
/// the receiver reads messages that do not fit into a slot, without eager data, and the FIN is
/// chained.
contestant as_the_paper() {
  return make_own({.name = "weft read, chained",
                   .program = {"env", "WEFT_RENDEZVOUS=get", "WEFT_RENDEZVOUS_EAGER_DATA=no",
                               "WEFT_RENDEZVOUS_CHAINED_FIN=yes", "WEFT_EAGER_LIMIT=1984",
                               this_program().string()},
                   .about = "co_await; one thread polls; the best options of the paper on Open MPI "
                            "over Elan4",
                   .arguments = {"--transport", "qdma", "--progress", "polling"}});
}

lineup everybody(const compare_options& options, const std::vector<std::string>& modes) {
  lineup who{.bench = "compare",
             .all = series_for(options.transport, options.rounds, options.effort),
             .contestants = {},
             .targets = targets_for(options.transport)};
  for (const auto& mode : modes) who.contestants.push_back(make_own_mode(options.transport, mode));
  if (options.transport == "qdma") who.contestants.push_back(as_the_paper());
  for (auto& peer : make_peers(options.transport, options.programs()))
    who.contestants.push_back(std::move(peer));
  for (auto& one : options.installed()) who.contestants.push_back(std::move(one));
  for (auto& limit : make_limits(options.transport)) who.contestants.push_back(std::move(limit));
  return who;
}

void add_compare_command(CLI::App& app, std::vector<std::string> modes, int& exit_code) {
  auto options = std::make_shared<compare_options>();
  auto* sub = app.add_subcommand(
      "compare", "weft, other libraries and the limits of the machine, side by side");
  add_compare_options(*sub, *options, {"shm", "tcp", "qdma"});
  add_installed_options(*sub, *options);
  sub->callback([options, modes = std::move(modes), &exit_code] {
    exit_code = compare(*options, everybody(*options, modes));
  });
}

}  // namespace weft::bench
