// SPDX-License-Identifier: Apache-2.0
// A contestant of the comparison: weft in one mode, another library, or a limit of the machine.
#pragma once

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "output/json_lines.hpp"
#include "support/job.hpp"
#include "support/subprocess.hpp"

namespace weft::bench {

/// A contestant computed something wrong. That is an error, not a reason to go on without it.
class wrong_answer : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class role {
  own,    ///< weft: the targets are for it
  peer,   ///< another library: ratios are to the best of them
  limit,  ///< a limit of the machine
};

struct contestant {
  std::string name;
  role part = role::peer;
  std::string about;  ///< a short description, for the text under the tables
  /// Runs the job once and returns its JSON lines. Throws std::runtime_error with cause and cure,
  /// and wrong_answer.
  std::function<std::vector<json>(const job&)> run;
  /// Whether it supports this benchmark.
  std::function<bool(const job&)> takes_part = [](const job&) { return true; };
};

/// Runs `what` for at most three minutes. \return its JSON lines
/// \throws std::runtime_error when it fails or prints none, wrong_answer
std::vector<json> lines_of(const command& what);

/// weft in one mode, as the program that runs the comparison describes it.
struct own_contestant {
  std::string name;  ///< "weft dedicated": the name in targets
  std::vector<std::string>
      program;        ///< {"/proc/self/exe"}, or a launcher and its arguments before it
  std::string about;  ///< as contestant::about
  std::vector<std::string> arguments;  ///< {"--transport", "shm", "--progress", "dedicated"}
};

/// Runs `<program> <bench> --json <options of the job> <arguments>`; see job::arguments() for the
/// options.
contestant make_own(const own_contestant& own);

/// Every configuration of every other library for `transport`; their programs are in `bin`.
std::vector<contestant> make_peers(const std::string& transport, const std::filesystem::path& bin);

/// MPI alone, for `transport`: Open MPI on weft, which is role::own, Open MPI on its own
/// transports, and MPICH. Each run checks that the ranks of the first, and of no other, have loaded
/// weft's provider.
std::vector<contestant> make_mpi(const std::string& transport, const std::filesystem::path& bin);

/// The MPIs of an installation that the user names, for `transport`; their program is built at
/// once. \throws std::runtime_error: that does not work, std::invalid_argument: `named` is not
/// NAME=PREFIX
std::vector<contestant> make_installed(const std::string& named, const std::string& transport);

/// UCX itself: the ucx_perftest of an installation, for `transport`.
/// \throws std::runtime_error: there is none in prefix/bin
contestant make_ucx(const std::filesystem::path& prefix, const std::string& transport);

/// The raw limits of `transport`. They run in forks of this process, which must have one thread.
std::vector<contestant> make_limits(const std::string& transport);

}  // namespace weft::bench
