// SPDX-License-Identifier: Apache-2.0
// The command line of weft-mpirun.
#pragma once

#include <string>
#include <vector>

namespace weft::mpirun {

struct options {
  std::string mpirun;      ///< --mpirun: the launcher; empty: mpirun.openmpi, else mpirun, on PATH
  std::string provider;    ///< --provider: the folder of libweft-fi.so; empty: search for it
  bool print = false;      ///< show the command instead of running it
  bool plain = false;      ///< --default: on Open MPI's own transports
  bool verify = false;     ///< run weft-mpirun's own test program instead of the user's
  bool one_sided = false;  ///< MPI's one-sided calls are weft's puts and gets
  bool system_libfabric = false;     ///< ranks use the system's libfabric instead of the slim one
  std::string collectives = "weft";  ///< --collectives: whose short ones are, weft's or mpi's
  bool quiet = false;                ///< print no messages, neither weft-mpirun nor rank 0
  std::vector<std::string> rest;     ///< for mpirun, unchanged
};

/// Reads the command line: weft-mpirun's options, then those of mpirun. If there is nothing to run
/// (--help, or an error) it prints a text and sets `exit_status`. \returns whether to continue
bool parse(int argc, char** argv, options& into, int& exit_status);

}  // namespace weft::mpirun
