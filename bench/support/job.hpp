// SPDX-License-Identifier: Apache-2.0
// One benchmark run as its command line describes it. Weft, the peers and the raw limits understand
// the same options, so that the comparison can hand the same ones to each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace CLI {
class App;  // CLI/CLI.hpp takes seconds to compile, and what is measured has no use for it
}

namespace weft::bench {

/// What to measure.
struct job {
  std::string bench;  ///< "latency", "rate", "bandwidth", "overlap", "alltoall" or, of MPI alone,
                      ///< one of mpi_collectives
  std::vector<std::size_t> sizes{8};  ///< bytes of a message; measured one after the other
  std::size_t window = 1;             ///< messages in flight
  std::string buffers =
      "warm";  ///< "warm": `window` buffers, used again and again; "cold": see buffer_count()
  std::string pattern = "all";  ///< of overlap: one of overlap_patterns, or "all"
  double compute_us = 5000;     ///< of overlap: how long the application computes
  bool standard_send =
      false;            ///< of overlap, for MPI: a blocked sender is in MPI_Send, not MPI_Ssend
  int ranks = 2;        ///< of those that among_many()
  bool hosts = false;   ///< the two processes on two hosts (support/hosts.hpp)
  double effort = 1.0;  ///< factor on the number of samples

  /// Whether any number of ranks can do it; the others are for two.
  bool among_many() const;

  /// How many different buffers each side walks through. Cold ones are at least 32, whatever is in
  /// flight.
  std::size_t buffer_count() const {
    return buffers == "cold" ? std::max<std::size_t>(window, 32) : window;
  }

  /// The options that make a contestant do this: "--size 8,1024 --window 64 ...", without the
  /// subcommand.
  std::vector<std::string> arguments() const;
};

/// The four patterns of overlap.
inline const std::vector<std::string> overlap_patterns{"both_compute", "receiver_blocked",
                                                       "sender_blocked", "slow_down"};

/// Calls of MPI that all ranks make together.
inline const std::vector<std::string> mpi_collectives{"barrier", "bcast", "allreduce"};

/// Adds the options of a job to a (sub)command: --size (a list; 8, 64K, 1M), --window, --buffers,
/// --pattern,
/// --compute-us, --ranks, --hosts, --effort. `into` must outlive the parsing; `into.bench` decides
/// which are added.
void add_job_options(CLI::App& app, job& into);

/// Adds --hosts alone.
void add_hosts_option(CLI::App& app, bool& into);

}  // namespace weft::bench
