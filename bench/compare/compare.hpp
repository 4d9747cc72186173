// SPDX-License-Identifier: Apache-2.0
// The comparison: weft, the other libraries and the raw limits do the same work in one run, in
// interleaved rounds.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "compare/contestant.hpp"

namespace weft::bench {

struct compare_options {
  std::string transport = "shm";    ///< "shm" or "tcp": decides contestants, series and targets
  std::vector<own_contestant> own;  ///< weft's modes; the first one is held against the targets
  std::filesystem::path bin;        ///< where the peer programs lie; empty: beside this program
  std::vector<std::string> only;    ///< names of series; empty: all
  std::vector<std::string> skip;    ///< contestants to leave out, by name
  int rounds = 7;
  double effort = 1.0;  ///< factor on the samples of each round
  bool hosts = false;   ///< everybody's two processes on two hosts (support/hosts.hpp)
  bool as_json = false;
  bool strict = false;  ///< a target that is not met makes the exit code 1
};

/// Measures, prints, and returns the exit code: 0, or 1 when nothing could be measured (or `strict`
/// and something falls short). Needs a process with one thread: the raw limits fork. Progress goes
/// to stderr. Throws std::invalid_argument for a transport or series that does not exist.
int compare(const compare_options& options);

/// Fills `own` for a weft-bench that is this very program: `progress` modes over
/// `options.transport`.
void add_own_modes(compare_options& options, const std::vector<std::string>& modes);

/// Adds the subcommand `compare` to `app`. When it is parsed, its callback compares `modes` of this
/// very program (the first is held against the targets) with the rest, and leaves the exit code in
/// `exit_code`, which must outlive parsing.
void add_compare_command(CLI::App& app, std::vector<std::string> modes, int& exit_code);

}  // namespace weft::bench
