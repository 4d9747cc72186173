// SPDX-License-Identifier: Apache-2.0
// The comparison: several contestants do the same work in one run, in interleaved rounds.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "compare/contestant.hpp"
#include "compare/series.hpp"

namespace weft::bench {

/// The options of the user; the same for every comparison.
struct compare_options {
  std::string transport = "shm";  ///< "shm" or "tcp": decides contestants, series and targets
  std::filesystem::path bin;      ///< the folder of the programs; empty: that of this program
  std::vector<std::string> only;  ///< names of series; empty: all
  std::vector<std::string> skip;  ///< contestants to leave out, by name
  std::vector<std::string> mpi;   ///< installations: NAME=PREFIX
  std::vector<std::filesystem::path> ucx;  ///< prefixes of UCX
  int rounds = 7;
  double effort = 1.0;  ///< factor on the samples of each round
  bool hosts = false;   ///< each contestant's two processes on two hosts (support/hosts.hpp)
  bool as_json = false;
  bool strict = false;  ///< a missed target makes the exit code 1

  /// `bin`, or the folder of this program.
  std::filesystem::path programs() const;

  /// The contestants of `mpi` and `ucx`. Builds; throws as make_installed and make_ucx.
  std::vector<contestant> installed() const;
};

/// The contestants, the series and the targets.
struct lineup {
  std::string bench;  ///< as in the JSON lines: "compare", "mpi" or "collectives"
  std::vector<series> all;
  std::vector<contestant> contestants;  ///< the first of role::own is compared with the targets
  std::vector<target> targets;
  bool shows_ratios = false;  ///< one more table: the first of role::own to each of the others
  bool shows_means = false;   ///< the means as well
  bool judges_all = false;    ///< the targets are for every contestant of role::own
};

/// Measures, prints, and returns the exit code: 0, or 1 when nothing could be measured, weft
/// failed, an answer was wrong (or `strict` and something falls short). Needs a process with one
/// thread: the raw limits fork. Progress goes to stderr. Throws std::invalid_argument for a series
/// that does not exist.
int compare(const compare_options& options, lineup who);

/// Adds --mpi, and --ucx if `ucx`. `into` must outlive parsing.
void add_installed_options(CLI::App& app, compare_options& into, bool ucx = true);

/// Adds the options of `into`, which must outlive parsing, to a subcommand.
void add_compare_options(CLI::App& app, compare_options& into,
                         const std::vector<std::string>& transports = {"shm", "tcp"});

/// This program in the mode of progress `mode`, as "weft dedicated".
contestant make_own_mode(const std::string& transport, const std::string& mode);

/// weft in its modes, other libraries and the limits of the machine. Throws std::invalid_argument
/// for a transport that does not exist.
lineup everybody(const compare_options& options, const std::vector<std::string>& modes);

/// Adds the subcommand `compare` to `app`. When it is parsed, its callback compares `modes` of this
/// program (the first is compared with the targets) with the rest, and stores the exit code in
/// `exit_code`, which must outlive parsing.
void add_compare_command(CLI::App& app, std::vector<std::string> modes, int& exit_code);

/// Adds the subcommand `mpi`: one MPI program over Open MPI's own transports, over Open MPI on
/// weft, and over MPICH; and below it `mpi kernel`. `exit_code` as above.
void add_mpi_command(CLI::App& app, int& exit_code);

/// Adds the subcommand `kernel` to `mpi`: kernels of numerical programs (peers/kernels), or with
/// `--nas` programs of the NAS Parallel Benchmarks. `exit_code` as above.
void add_kernel_command(CLI::App& mpi, int& exit_code);

/// Adds the subcommand `collectives`: the collectives of weft::group, of Open MPI over its own
/// transports, and of MPICH. `exit_code` as above.
void add_collectives_command(CLI::App& app, int& exit_code);

/// Adds the subcommand `company`: messages, and collectives of crowded ranks, beside other
/// processes that want the same cores. `exit_code` as above.
void add_company_command(CLI::App& app, int& exit_code);

}  // namespace weft::bench
