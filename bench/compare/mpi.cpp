// SPDX-License-Identifier: Apache-2.0
// An unmodified MPI program over its MPI's own transports, and over weft.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "compare/compare.hpp"

namespace weft::bench {
namespace {

const std::vector<std::size_t> rendezvous_sizes{64 * kib, 256 * kib, mib, 4 * mib};
const std::vector<std::size_t> large_overlap_sizes{256 * kib, mib, 8 * mib};
const std::vector<std::size_t> collective_sizes{8, 4 * kib, 64 * kib, mib};

std::vector<std::size_t> sizes_of(const std::string& bench) {
  if (bench == "barrier" || bench == start_of_job) return {0};
  if (bench == "alltoall") return {8, kib, 64 * kib, mib};
  return collective_sizes;
}

/// Messages that no MPI buffers: MPI_Send takes as long as MPI_Ssend.
constexpr const char* overlap_of_send = "overlap MPI_Send";

std::string among(const std::string& bench, int ranks) {
  return fmt::format("{} {} ranks", bench, ranks);
}

std::vector<series> mpi_series(int rounds, double effort) {
  std::vector<series> all{
      {"latency",
       make_job("latency", {8, 64, kib, 4 * kib, 16 * kib, 64 * kib, 256 * kib, mib, 4 * mib}, 1,
                "warm", effort),
       rounds},
      {"sendrecv",
       make_job("sendrecv", {8, kib, 8 * kib, 64 * kib, 512 * kib, 4 * mib}, 1, "warm", effort),
       rounds},
      {"rate", make_job("rate", {8}, 64, "warm", effort), rounds},
      {"bandwidth", make_job("bandwidth", rendezvous_sizes, 1, "warm", effort), rounds},
      {"bandwidth cold", make_job("bandwidth", rendezvous_sizes, 32, "cold", effort), rounds},
      // Each of its samples takes milliseconds with any library: so fewer samples.
      {"overlap", make_job("overlap", overlap_sizes, 1, "warm", effort * 0.4), rounds}};
  // Open MPI's mtl acknowledges synchronous sends itself, inside the receiver's calls.
  auto standard = make_job("overlap", large_overlap_sizes, 1, "warm", effort * 0.4);
  standard.pattern = "sender_blocked";
  standard.standard_send = true;
  all.push_back({overlap_of_send, standard, rounds});
  for (const int ranks : {2, 4, 8})
    for (const char* bench : {"barrier", "bcast", "allreduce", "alltoall"}) {
      auto what = make_job(bench, sizes_of(bench), 1, "warm", effort);
      what.ranks = ranks;
      all.push_back({among(bench, ranks), std::move(what), rounds});
    }
  auto start = make_job(start_of_job, sizes_of(start_of_job), 1, "warm", effort);
  start.ranks = 8;
  all.push_back({among(start_of_job, start.ranks), std::move(start), rounds});
  return all;
}

std::vector<target> mpi_targets(const std::string& transport) {
  using to = target::reference;
  using sense = target::sense;
  std::vector<target> targets;
  if (transport == "shm") {
    const std::string vader = "Open MPI vader";
    targets = {
        {"latency", {8}, "", "half_rtt_us", to::named, vader, sense::at_most, 1},
        {"bandwidth", rendezvous_sizes, "", "mb_s", to::named, vader, sense::at_least, 1.4},
    };
    for (const char* bench : {"barrier", "bcast", "allreduce", "alltoall"})
      targets.push_back({among(bench, 8), sizes_of(bench), "", metric_of(bench, ""), to::named,
                         vader, sense::at_most, 1});
    targets.push_back({among(start_of_job, 8), sizes_of(start_of_job), "", std::string(ms_per_job),
                       to::named, vader, sense::at_most, 1.2});
  }
  add_overlap_targets(targets, overlap_sizes, 0.03);
  targets.push_back({overlap_of_send, large_overlap_sizes, "sender_blocked", "excess_us",
                     to::absolute, "", sense::at_most, overlap_excess_us});
  return targets;
}

}  // namespace

void add_mpi_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<compare_options>();
  auto* sub = app.add_subcommand(
      "mpi", "One MPI program on Open MPI, on Open MPI with weft, and on MPICH, side by side");
  add_compare_options(*sub, *options);
  add_installed_options(*sub, *options);
  add_kernel_command(*sub, exit_code);
  sub->callback([options, sub, &exit_code] {
    if (!sub->get_subcommands().empty()) return;  // it has run already
    auto contestants = make_mpi(options->transport, options->programs());
    for (auto& one : options->installed()) contestants.push_back(std::move(one));
    exit_code = compare(*options, {.bench = "mpi",
                                   .all = mpi_series(options->rounds, options->effort),
                                   .contestants = std::move(contestants),
                                   .targets = mpi_targets(options->transport),
                                   .shows_ratios = true});
  });
}

}  // namespace weft::bench
