// SPDX-License-Identifier: Apache-2.0
// One benchmark run, from its command line. weft, the peers and the raw limits have the same
// options, so that the comparison can pass the same ones to each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

// NOLINTNEXTLINE(readability-identifier-naming): of CLI11
namespace CLI {
class Option;
class App;  // CLI/CLI.hpp takes seconds to compile, and the measured code does not need it
}  // namespace CLI

namespace weft::bench {

/// The measurement.
struct job {
  std::string bench;  ///< "latency", "rate", "bandwidth", "overlap", "alltoall", "collective" or,
                      ///< of MPI alone, one of mpi_collectives, start_of_job, or kernel_bench
  std::vector<std::size_t> sizes{8};  ///< bytes of a message; measured one after the other
  std::size_t window = 1;             ///< messages in flight
  bool batches = false;               ///< of weft's rate and bandwidth: by send_many and recv_many
  std::string buffers =
      "warm";  ///< "warm": `window` buffers, used repeatedly; "cold": see buffer_count()
  std::string call = "barrier";  ///< of collective: one of collective_calls
  std::string pattern = "all";   ///< of overlap or collective: one of overlap_patterns or of
                                 ///< collective_patterns, or "all"
  double compute_us = 5000;      ///< of overlap: how long the application computes
  bool standard_send =
      false;  ///< of overlap, for MPI: a blocked sender is in MPI_Send, not MPI_Ssend
  std::vector<std::string> kernels{};  ///< of kernel_bench: some of kernel_names
  std::string problem_class = "S";     ///< of kernel_bench: one of kernel_classes
  int ranks = 2;                       ///< of those that among_many()
  std::vector<int> threads{1, 2,
                           4};  ///< of threads: how many each process has, one after the other
  bool pin = true;              ///< of threads, for MPI: each thread has a core
  bool hosts = false;           ///< the two processes on two hosts (support/hosts.hpp)
  double effort = 1.0;          ///< factor on the number of samples
  double for_ms = 0;            ///< of latency, rate and bandwidth: measures each size that long,
                                ///< whatever a message takes; 0: a number of samples

  /// Whether the benchmark allows any number of ranks; the others are for two.
  bool among_many() const;

  /// The number of different buffers of each side. Cold ones are at least 32, for any window.
  std::size_t buffer_count() const {
    return buffers == "cold" ? std::max<std::size_t>(window, 32) : window;
  }

  /// The options of a contestant for this job: "--size 8,1024 --window 64 ...", without the
  /// subcommand.
  std::vector<std::string> arguments() const;
};

/// The four patterns of overlap.
inline const std::vector<std::string> overlap_patterns{"both_compute", "receiver_blocked",
                                                       "sender_blocked", "slow_down"};

/// The calls of weft::group that `collective` measures, and the ways to make them: one call after
/// the other; or each started, then a computation (about as long as the call alone, or much
/// longer), then the wait for its end.
inline const std::vector<std::string> collective_calls{"barrier", "broadcast", "all_reduce",
                                                       "all_to_all"};
inline const std::vector<std::string> collective_patterns{"plain", "computing", "computing_long"};

/// Calls of MPI that all ranks make together.
inline const std::vector<std::string> mpi_collectives{"barrier", "bcast", "allreduce"};

/// A job of MPI ranks that only begins and ends; the process that launches it measures.
inline constexpr const char* start_of_job = "start";

/// Kernels of numerical programs (peers/kernels), and their sizes.
inline constexpr const char* kernel_bench = "kernel";
inline constexpr const char* nas_bench = "nas";  ///< the same of the NAS Parallel Benchmarks
inline const std::vector<std::string> kernel_names{"lu", "cg", "mg", "ft", "is"};
inline const std::vector<std::string> kernel_classes{"S", "W", "A"};

/// Adds the options of a job to a (sub)command: --size (a list; 8, 64K, 1M), --window, --buffers,
/// --pattern,
/// --compute-us, --ranks, --hosts, --effort. `into` must outlive the parsing; `into.bench` decides
/// which are added.
void add_job_options(CLI::App& app, job& into);

/// The option for sizes in bytes: several with commas; 64K, 1M are understood. \param of what
CLI::Option* add_sizes(CLI::App& app, std::vector<std::size_t>& into, const std::string& of);

/// Adds --for-ms, for contestants that heed job::for_ms.
void add_duration_option(CLI::App& app, job& into);

/// Adds --hosts alone.
void add_hosts_option(CLI::App& app, bool& into);

}  // namespace weft::bench
