// SPDX-License-Identifier: Apache-2.0
// The collectives of weft::group, and of an MPI on weft, beside those of MPI.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "compare/compare.hpp"
#include "support/affinity.hpp"
#include "support/job.hpp"

namespace weft::bench {
namespace {

/// What this comparison lets the user choose beside the usual options.
struct collectives_options : compare_options {
  std::vector<std::size_t> sizes{8, 4 * kib, 64 * kib, mib};
  std::string pattern = "all";
};

std::vector<series> collectives_series(const collectives_options& options) {
  std::vector<series> all;
  for (const int ranks : options.transport == "shm" ? std::vector{2, 4, 8} : std::vector{4})
    for (const auto& call : collective_calls) {
      auto what = make_job("collective", options.sizes, 1, "warm", options.effort);
      what.call = call;
      what.pattern = options.pattern;
      what.ranks = ranks;
      all.push_back({fmt::format("{} {} ranks", call, ranks), std::move(what), options.rounds});
    }
  return all;
}

/// weft, an MPI on weft, and the MPIs on their own transports.
std::vector<contestant> everyone(const collectives_options& options) {
  std::vector<contestant> all{
      make_own({.name = "weft",
                .program = {std::filesystem::read_symlink("/proc/self/exe").string()},
                .about = "weft::group; the waiting thread polls, a progress thread sleeps until it "
                         "is needed",
                .arguments = {"--transport", options.transport}})};
  auto others = make_mpi(options.transport, options.programs());
  for (auto& one : options.installed()) others.push_back(std::move(one));
  for (auto& one : others) {
    // With crowded ranks these take minutes: a progress thread that polls, and UCX's tcp, which
    // never yields its core (11 ms for 8 bytes among four ranks on two cores).
    if (one.name.ends_with(" async") || one.name == "MPICH tcp")
      one.takes_part = [cores = allowed_cores().size()](const job& what) {
        return static_cast<std::size_t>(what.ranks) <= cores;
      };
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

void add_collectives_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<collectives_options>();
  options->rounds = 5;
  auto* sub = app.add_subcommand("collectives",
                                 "Collective calls of weft, Open MPI and MPICH, side by side");
  add_compare_options(*sub, *options);
  add_installed_options(*sub, *options, false);  // UCX has no collectives
  auto patterns = collective_patterns;
  patterns.emplace_back("all");
  sub->add_option("--pattern", options->pattern, "One after the other, or during a computation")
      ->check(CLI::IsMember(patterns));
  add_sizes(*sub, options->sizes, "A rank's part");
  sub->callback([options, &exit_code] {
    exit_code = compare(*options, {.bench = "collectives",
                                   .all = collectives_series(*options),
                                   .contestants = everyone(*options),
                                   .targets = {},
                                   .shows_ratios = true});
  });
}

}  // namespace weft::bench
