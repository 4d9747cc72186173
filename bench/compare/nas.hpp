// SPDX-License-Identifier: Apache-2.0
// The NAS Parallel Benchmarks (NPB 3.x for MPI) that a user brings: nothing of them is part of
// weft.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace weft::bench {

/// What a program of NPB says at its end.
struct nas_report {
  double mop_s;    ///< "Mop/s total"
  double seconds;  ///< "Time in seconds"
  int processes;
  bool verified;  ///< "Verification = SUCCESSFUL"
};

/// Finds the report in the output of a program. Throws std::runtime_error if a part of it is
/// missing.
nas_report parse_nas_report(std::string_view output);

/// The folder with the sources and the bin folder: `given`, or the NPB3.x-MPI below it, the latest
/// if there are several. Throws std::invalid_argument if there is none.
std::filesystem::path find_nas_tree(const std::filesystem::path& given);

/// The program of a kernel ("lu") and a class ("A") for `ranks` processes: bin/lu.A.x of NPB 3.4,
/// or bin/lu.A.4 of NPB 3.3. If there is none, make builds it with Open MPI's compilers and the
/// flags of config/make.def. Throws std::runtime_error, with the cure, when it cannot be built.
std::filesystem::path nas_program(const std::filesystem::path& tree, const std::string& kernel,
                                  const std::string& problem_class, int ranks);

}  // namespace weft::bench
