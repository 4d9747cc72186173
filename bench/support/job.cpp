// SPDX-License-Identifier: Apache-2.0
#include "support/job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace weft::bench {
namespace {

std::vector<std::string> or_all(std::vector<std::string> patterns) {
  patterns.emplace_back("all");
  return patterns;
}

}  // namespace

bool job::among_many() const {
  return bench == "alltoall" || bench == "collective" || bench == start_of_job ||
         bench == kernel_bench || bench == nas_bench ||
         std::find(mpi_collectives.begin(), mpi_collectives.end(), bench) != mpi_collectives.end();
}

std::vector<std::string> job::arguments() const {
  std::vector<std::string> result{"--size", fmt::format("{}", fmt::join(sizes, ",")), "--effort",
                                  fmt::format("{}", effort)};
  const auto add = [&](const char* option, std::string value) {
    result.emplace_back(option);
    result.push_back(std::move(value));
  };
  if (bench == "rate" || bench == "bandwidth") {
    add("--window", fmt::format("{}", window));
    add("--buffers", buffers);
  } else if (bench == "overlap") {
    add("--pattern", pattern);
    add("--compute-us", fmt::format("{}", compute_us));
    if (standard_send) result.emplace_back("--standard-send");
  } else if (bench == "threads") {
    add("--window", fmt::format("{}", window));
    add("--threads", fmt::format("{}", fmt::join(threads, ",")));
    if (!pin) result.emplace_back("--no-pin");
  } else if (among_many()) {
    if (bench == "collective") {
      add("--call", call);
      add("--pattern", pattern);
    } else if (bench == kernel_bench) {
      add("--kernel", fmt::format("{}", fmt::join(kernels, ",")));
      add("--class", problem_class);
    }
    add("--ranks", fmt::format("{}", ranks));
  }
  if (for_ms > 0) add("--for-ms", fmt::format("{}", for_ms));
  if (hosts) result.emplace_back("--hosts");
  return result;
}

void add_duration_option(CLI::App& app, job& into) {
  app.add_option("--for-ms", into.for_ms,
                 "Measure each size for so many milliseconds, instead of a number of samples: for "
                 "cores that other processes use")
      ->check(CLI::Range(1, 60000));
}

void add_hosts_option(CLI::App& app, bool& into) {
  app.add_flag("--hosts", into,
               "The processes on two hosts: network namespaces that are joined by a veth pair");
}

CLI::Option* add_sizes(CLI::App& app, std::vector<std::size_t>& into, const std::string& of) {
  return app
      .add_option("--size", into, of + ": bytes, several with commas; 64K, 1M are understood")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false));
}

void add_job_options(CLI::App& app, job& into) {
  add_sizes(app, into.sizes, "Messages");
  app.add_option("--effort", into.effort, "Factor on the number of samples")
      ->check(CLI::PositiveNumber);
  if (into.bench == "rate" || into.bench == "bandwidth") {
    app.add_option("--window", into.window, "Messages in flight before an acknowledgement")
        ->check(CLI::PositiveNumber);
    app.add_option("--buffers", into.buffers,
                   "Use the same buffers again (warm) or 32 different ones (cold)")
        ->check(CLI::IsMember({"warm", "cold"}));
  } else if (into.bench == "overlap") {
    app.add_option("--pattern", into.pattern, "Who computes and who waits")
        ->check(CLI::IsMember(or_all(overlap_patterns)));
    app.add_option("--compute-us", into.compute_us, "How long the application computes")
        ->check(CLI::NonNegativeNumber);
  } else if (into.bench == "threads") {
    app.add_option("--window", into.window, "Messages in flight before an acknowledgement")
        ->check(CLI::PositiveNumber);
    app.add_option("--threads", into.threads, "Threads of each process; several with commas")
        ->delimiter(',')
        ->check(CLI::Range(1, 16));
  } else if (into.among_many()) {
    if (into.bench == "collective") {
      app.add_option("--call", into.call, "Which call")->check(CLI::IsMember(collective_calls));
      app.add_option("--pattern", into.pattern, "One after the other, or during a computation")
          ->check(CLI::IsMember(or_all(collective_patterns)));
    }
    const int fewest = into.bench == kernel_bench ? 1 : 2;
    if (into.bench == kernel_bench) {
      app.add_option("--kernel", into.kernels, "Which kernels; several with commas")
          ->delimiter(',')
          ->check(CLI::IsMember(kernel_names));
      app.add_option("--class", into.problem_class, "The size of their problems")
          ->check(CLI::IsMember(kernel_classes));
    }
    app.add_option("--ranks", into.ranks, "Processes, shared out over the allowed cores")
        ->check(CLI::Range(fewest, 1024));
  }
  if (!into.among_many() && into.bench != "threads") add_hosts_option(app, into.hosts);
}

}  // namespace weft::bench
