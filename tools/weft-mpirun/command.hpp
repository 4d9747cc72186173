// SPDX-License-Identifier: Apache-2.0
// What mpirun is called with. Nothing here looks at the machine: tests/tools tests it with made-up
// ones.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "options.hpp"

namespace weft::mpirun {

/// What of the machine and the environment decides.
struct surroundings {
  std::string mpirun;                  ///< the launcher's path
  std::string provider_path;           ///< for FI_PROVIDER_PATH
  std::vector<std::string> variables;  ///< names of all variables of the environment
  unsigned cores = 1;                  ///< cores of this machine, as Open MPI counts slots
  bool root = false;
  std::string self;  ///< our own program, for --verify
};

/// How many ranks mpirun's arguments ask for, if they say so.
std::optional<unsigned> ranks_asked(const std::vector<std::string>& arguments);

/// Whether a variable is passed on to all ranks: those that begin with WEFT_ and do not say which
/// rank of which job a process is.
bool forwarded(std::string_view variable);

/// The whole argument vector, mpirun first.
std::vector<std::string> build_command(const options& chosen, const surroundings& here);

/// FI_PROVIDER_PATH with `folder` in front of what the user had.
std::string provider_path(const std::string& folder, std::string_view present);

/// As one would type it into a shell.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace weft::mpirun
