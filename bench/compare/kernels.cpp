// SPDX-License-Identifier: Apache-2.0
// Kernels of numerical programs under each MPI, and the NAS Parallel Benchmarks of the user.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "compare/compare.hpp"
#include "compare/nas.hpp"
#include "peers/launch.hpp"
#include "support/affinity.hpp"
#include "support/subprocess.hpp"

namespace weft::bench {
namespace {

struct kernels_options : compare_options {
  std::vector<std::string> kernels = kernel_names;
  std::vector<int> ranks{2, 4};
  std::string problem_class = "W";
  std::filesystem::path nas;  // empty: the kernels of this project
};

/// One for each number of ranks and kernel: contestants take turns at each kernel. The kernels of a
/// number of ranks have one name, and so one table.
std::vector<series> kernel_series(const kernels_options& options) {
  const char* const bench = options.nas.empty() ? kernel_bench : nas_bench;
  std::vector<series> all;
  for (const int ranks : options.ranks)
    for (const auto& name : options.kernels) {
      auto what = make_job(bench, {0}, 1, "warm", options.effort);
      what.kernels = {name};
      what.problem_class = options.problem_class;
      what.ranks = ranks;
      all.push_back({fmt::format("{} {} {} ranks", bench, options.problem_class, ranks),
                     std::move(what), options.rounds});
    }
  return all;
}

/// The program of each job. They are found, and built, before anything is measured.
using nas_programs = std::map<std::pair<std::string, int>, std::string>;

nas_programs find_nas_programs(const kernels_options& options) {
  const auto tree = find_nas_tree(options.nas);
  nas_programs all;
  for (const int ranks : options.ranks)
    for (const auto& name : options.kernels)
      all[{name, ranks}] = nas_program(tree, name, options.problem_class, ranks).string();
  return all;
}

/// One run of a program of NPB; it knows nothing of weft, so the announcement of rank 0 is the
/// proof that it runs there.
std::vector<json> run_nas(const peer& which, const job& what, const std::string& program,
                          const std::filesystem::path& bin) {
  const auto run = launch_command(which, what.ranks, {program}, bin, false);
  const auto result = run_command(run, std::chrono::minutes(30));
  if (!result.ok())
    throw std::runtime_error(fmt::format("{}\n  command: {}", result.reason(), run.text()));
  const auto report = parse_nas_report(result.out);
  if (!report.verified)
    throw wrong_answer(
        fmt::format("{} of class {} on {} ranks says that its verification failed\n"
                    "  command: {}",
                    what.kernels.front(), what.problem_class, what.ranks, run.text()));
  if (report.processes != what.ranks)
    throw std::runtime_error(
        fmt::format("its report is of {} processes instead of {}: it was built with another MPI, "
                    "or for another "
                    "number; remove it, so that it is built again\n  command: {}",
                    report.processes, what.ranks, run.text()));
  if (which.on_weft && result.err.find("MPI runs on weft") == std::string::npos)
    throw std::runtime_error("none of its ranks said that it runs on weft; " + result.reason() +
                             result.err);
  json line =
      make_line({.bench = nas_bench, .transport = which.transport, .progress = which.progress},
                mop_s, {report.mop_s});
  line["pattern"] = what.kernels.front();
  line["class"] = what.problem_class;
  line["ranks"] = what.ranks;
  line["verified"] = true;
  return {line};
}

std::vector<contestant> nas_contestants(const kernels_options& options) {
  const auto programs = std::make_shared<nas_programs>(find_nas_programs(options));
  std::vector<peer> peers{openmpi_on_weft(options.transport)};
  peers.front().quiet = false;
  for (auto& one : known_peers(options.transport))  // the first of them has its defaults
    if (one.library == peer::family::openmpi && peers.size() == 1) peers.push_back(std::move(one));
  std::vector<contestant> all;
  for (const auto& one : peers)
    all.push_back(
        {.name = one.name,
         .part = one.on_weft ? role::own : role::peer,
         .about = one.about,
         .run = [one, programs, bin = options.programs()](const job& what) {
           return run_nas(one, what, programs->at({what.kernels.front(), what.ranks}), bin);
         }});
  return all;
}

/// The MPIs that take part with weft's own kernels.
std::vector<contestant> kernel_contestants(const kernels_options& options) {
  auto all = make_mpi(options.transport, options.programs());
  std::erase_if(all, [](const contestant& one) { return one.name == "MPICH async"; });
  // MPICH's ranks never yield their core, so each message between ranks that share one takes a time
  // slice: lu of class S takes three seconds in place of ten milliseconds.
  for (auto& one : all)
    if (one.name.starts_with("MPICH"))
      one.takes_part = [cores = allowed_cores().size()](const job& what) {
        return static_cast<std::size_t>(what.ranks) <= cores;
      };
  return all;
}

int compare_kernels(const kernels_options& options) {
  const bool own = options.nas.empty();
  if (own && std::find(kernel_classes.begin(), kernel_classes.end(), options.problem_class) ==
                 kernel_classes.end())
    throw std::invalid_argument(
        fmt::format("weft's own kernels have no class {}; there are S, W and A, or --nas",
                    options.problem_class));
  const int exit_code =
      compare(options, {.bench = own ? kernel_bench : nas_bench,
                        .all = kernel_series(options),
                        .contestants = own ? kernel_contestants(options) : nas_contestants(options),
                        .targets = {},
                        .shows_ratios = true});
  if (exit_code == 0 && !options.as_json) fmt::print("\nEvery answer was verified.\n");
  return exit_code;
}

}  // namespace

void add_kernel_command(CLI::App& mpi, int& exit_code) {
  auto options = std::make_shared<kernels_options>();
  options->rounds = 5;
  auto* sub = mpi.add_subcommand(
      "kernel", "Small numerical programs with the communication of LU, CG, MG, FT and IS");
  add_compare_options(*sub, *options);
  sub->add_option("--kernel", options->kernels, "Which kernels; several with commas")
      ->delimiter(',')
      ->check(CLI::IsMember(kernel_names));
  sub->add_option("--ranks", options->ranks,
                  "Processes, shared out over the allowed cores; several with commas")
      ->delimiter(',')
      ->check(CLI::Range(2, 64));
  sub->add_option("--class", options->problem_class,
                  "The size of their problems: S, W or A; of NPB also B, C and D")
      ->check(CLI::IsMember({"S", "W", "A", "B", "C", "D"}));
  sub->add_option("--nas", options->nas,
                  "Measure the NAS Parallel Benchmarks in this folder (NPB 3.x for MPI) instead")
      ->check(CLI::ExistingDirectory);
  sub->callback([options, &mpi, &exit_code] {
    for (const CLI::Option* option : mpi.get_options())
      if (option->count() != 0)
        throw std::invalid_argument(fmt::format(
            "{} stands before the word kernel, where it is an option of mpi; put it behind",
            option->get_name()));
    exit_code = compare_kernels(*options);
  });
}

}  // namespace weft::bench
