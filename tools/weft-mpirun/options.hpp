// SPDX-License-Identifier: Apache-2.0
// The command line of weft-mpirun.
#pragma once

#include <string>
#include <vector>

namespace weft::mpirun {

struct options {
  std::string mpirun;    ///< --mpirun: which one; empty: mpirun.openmpi, else mpirun, on PATH
  std::string provider;  ///< --provider: the folder of libweft-fi.so; empty: looked for
  bool print = false;    ///< show the command instead of running it
  bool plain = false;    ///< --default: on Open MPI's own transports
  bool verify = false;   ///< run a tiny program of ours instead of the user's
  bool quiet = false;    ///< say nothing of one's own, and let nobody else do so
  std::vector<std::string> rest;  ///< for mpirun, as it came
};

/// Reads the command line: options of our own, then whatever mpirun takes. When there is nothing to
/// run (--help, or a mistake) it has told so and sets `exit_status`. \returns whether to go on
bool parse(int argc, char** argv, options& into, int& exit_status);

}  // namespace weft::mpirun
