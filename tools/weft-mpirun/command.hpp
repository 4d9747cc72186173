// SPDX-License-Identifier: Apache-2.0
// The arguments for mpirun. This code does not examine the machine: tests/tools tests it with
// invented machines.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher.hpp"
#include "options.hpp"

namespace weft::mpirun {

/// The facts of the machine and the environment that decide.
struct surroundings {
  std::string mpirun;                  ///< the launcher's path
  series open_mpi = series::v4_1;      ///< its version; without meaning if weft is not used
  std::string provider_path;           ///< for FI_PROVIDER_PATH
  std::string library_path;            ///< for LD_LIBRARY_PATH; empty: leave it
  std::string before_mpi;              ///< libraries for LD_PRELOAD; empty: none
  std::string preloaded;               ///< LD_PRELOAD as it is
  std::vector<std::string> variables;  ///< names of all variables of the environment
  std::function<unsigned()> cores;     ///< counts this machine's cores, as Open MPI counts slots
  bool root = false;
  std::string self;  ///< our own program, for --verify
};

/// The number of ranks in mpirun's arguments, if they have one.
std::optional<unsigned> ranks_asked(const std::vector<std::string>& arguments);

/// Whether a variable is passed on to all ranks: those that begin with WEFT_, except the variables
/// that name the rank and the job of a process.
bool forwarded(std::string_view variable);

/// The variables for ranks, NAME=value.
std::vector<std::string> variables_of_ranks(const options& chosen, const surroundings& here);

/// Those that mpirun itself needs: ranks that ranks start (MPI_Comm_spawn) have them from it in
/// Open MPI 5, and from the ranks that start them in 4.1.
std::vector<std::string> variables_of_mpirun(const options& chosen, const surroundings& here);

/// The whole argument vector, mpirun first.
std::vector<std::string> build_command(const options& chosen, const surroundings& here);

/// A list of folders with `folder` in front of the user's value.
std::string in_front(const std::string& folder, std::string_view present);

/// The command as text for a shell.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace weft::mpirun
