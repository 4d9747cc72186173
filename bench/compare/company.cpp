// SPDX-License-Identifier: Apache-2.0
// Messages, and collectives of crowded ranks, beside processes of others that want the same cores.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "compare/compare.hpp"
#include "support/affinity.hpp"

namespace weft::bench {
namespace {

/// What this comparison lets the user choose beside the usual options.
struct company_options : compare_options {
  std::vector<int> spinners{1, 2, 4};
  int ranks = 8;  ///< of the collectives; 0: without them
  int cores = 2;
};

const std::vector<std::size_t> latency_sizes{8, 64 * kib};
const std::vector<std::size_t> bandwidth_sizes{256 * kib, mib};

/// How long each size of latency and bandwidth is measured: some tens of time slices.
constexpr double measured_ms = 200;

/// One series of each kind for each number of spinners. None comes first: the figures of each
/// contestant alone.
std::vector<series> company_series(const company_options& options) {
  std::vector<int> loads{0};
  for (const int load : options.spinners)
    if (load != 0) loads.push_back(load);
  std::vector<series> all;
  for (const int load : loads) {
    const auto add = [&](const std::string& name, job what) {
      all.push_back(
          {fmt::format("{} {} spinners", name, load), std::move(what), options.rounds, load});
    };
    for (const auto& [bench, sizes] :
         {std::pair("latency", latency_sizes), std::pair("bandwidth", bandwidth_sizes)}) {
      auto what = make_job(bench, sizes, 1, "warm", options.effort);
      what.for_ms = measured_ms * options.effort;
      add(bench, std::move(what));
    }
    if (options.ranks == 0) continue;
    for (const char* call : {"barrier", "all_reduce"}) {
      auto what = make_job("collective", {8}, 1, "warm", options.effort);
      what.call = call;
      what.pattern = "plain";
      what.ranks = options.ranks;
      add(fmt::format("{} {} ranks", call, options.ranks), std::move(what));
    }
  }
  return all;
}

std::vector<target> company_targets(const std::vector<series>& all) {
  using to = target::reference;
  using sense = target::sense;
  std::vector<target> targets;
  for (const auto& one : all) {
    const auto bench = bench_of(one.name);
    const bool crowded = one.what.among_many();
    const auto pattern = crowded ? one.what.pattern : std::string();
    const auto metric = metric_of(bench, pattern);
    const auto sizes = bench == "barrier" ? std::vector<std::size_t>{0} : one.what.sizes;
    for (const auto& figure : {metric, std::string(mean_metric)}) {
      target promise{one.name, sizes, pattern, figure, to::best_peer, "", sense::at_most, 1.2};
      if (crowded) {
        promise.to = to::named;
        promise.against = "Open MPI vader";
        promise.bound = 1;
      } else if (more_is_better(metric)) {
        promise.direction = sense::at_least;
        promise.bound = 0.83;
      }
      targets.push_back(std::move(promise));
    }
  }
  return targets;
}

std::vector<contestant> everyone(const company_options& options) {
  std::vector<contestant> all;
  for (const char* mode : {"dedicated", "polling"})
    all.push_back(make_own_mode(options.transport, mode));
  for (auto& one : make_mpi(options.transport, options.programs()))
    if (!one.name.ends_with(" async")) all.push_back(std::move(one));
  for (auto& one : options.installed())
    if (!one.name.ends_with(" async")) all.push_back(std::move(one));
  return all;
}

}  // namespace

void add_company_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<company_options>();
  options->rounds = 5;
  auto* sub = app.add_subcommand(
      "company", "weft and other libraries beside processes that want the same cores");
  add_compare_options(*sub, *options, {"shm"});
  add_installed_options(*sub, *options);
  sub->add_option("--spinners", options->spinners,
                  "Numbers of processes that compute without an end meanwhile, with commas; none "
                  "is always measured, too")
      ->delimiter(',')
      ->check(CLI::Range(0, 1024));
  sub->add_option("--ranks", options->ranks, "Ranks of barrier and all_reduce; 0: without these")
      ->check(CLI::Range(0, 1024));
  sub->add_option("--cores", options->cores,
                  "Everything runs on the first so many cores; 0: on all that are allowed")
      ->check(CLI::Range(0, 1024));
  sub->callback([options, &exit_code] {
    if (options->cores != 0) stay_on_first(static_cast<std::size_t>(options->cores));
    auto all = company_series(*options);
    auto targets = company_targets(all);
    exit_code = compare(*options, {.bench = "company",
                                   .all = std::move(all),
                                   .contestants = everyone(*options),
                                   .targets = std::move(targets),
                                   .shows_means = true,
                                   .judges_all = true});
  });
}

}  // namespace weft::bench
