// SPDX-License-Identifier: Apache-2.0
// Somebody who takes part in the comparison: weft in one mode, another library, or a limit of the
// machine.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "support/job.hpp"
#include "support/json_lines.hpp"

namespace weft::bench {

enum class role {
  own,    ///< weft: the targets are about it
  peer,   ///< another library: the best of them is what ratios are taken to
  limit,  ///< what the machine can do
};

struct contestant {
  std::string name;
  role part = role::peer;
  std::string about;  ///< what it is, in a few words, for under the tables
  /// Does the job once and returns its JSON lines. Throws std::runtime_error with cause and cure.
  std::function<std::vector<json>(const job&)> run;
  /// Whether it has anything to say about this benchmark.
  std::function<bool(const job&)> takes_part = [](const job&) { return true; };
};

/// weft in one mode, as the program that runs the comparison describes it.
struct own_contestant {
  std::string name;  ///< "weft dedicated": targets find it by this
  std::vector<std::string>
      program;        ///< {"/proc/self/exe"}, or a launcher and its arguments before it
  std::string about;  ///< as contestant::about
  std::vector<std::string> arguments;  ///< {"--transport", "shm", "--progress", "dedicated"}
};

/// Runs `<program> <bench> --json <options of the job> <arguments>`; see job::arguments() for the
/// options.
contestant make_own(const own_contestant& own);

/// Every configuration of every other library for `transport`; their programs lie in `bin`.
std::vector<contestant> make_peers(const std::string& transport, const std::filesystem::path& bin);

/// MPI alone, for `transport`: Open MPI on weft, which is role::own, Open MPI on its own
/// transports, and MPICH. That the ranks of the first, and of no other, have weft's provider in
/// them is checked each time.
std::vector<contestant> make_mpi(const std::string& transport, const std::filesystem::path& bin);

/// The raw limits of `transport`. They run in forks of this process, which must have one thread.
std::vector<contestant> make_limits(const std::string& transport);

}  // namespace weft::bench
