// SPDX-License-Identifier: Apache-2.0
// The version of the library, the parts that it was built with, and the versions of what it stands
// on.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace weft {

/// "0.1.0": the version of the library that is linked. Any thread.
const char* version() noexcept;

/// "g++ 12.2.0, C++20, libstdc++ 12, x86_64": what compiled this library. Any thread.
std::string compiler();

/// A part that a build of weft may leave out.
struct build_part {
  const char* name;     ///< "verbs"; of a transport, its name
  const char* option;   ///< "WEFT_WITH_VERBS", the CMake variable
  bool built_in;        ///< whether this library has it
  const char* meaning;  ///< what it is for
};

/// All of them, for programs that print or check them. Any thread.
std::span<const build_part> build_parts() noexcept;

/// A library that weft was built with. Plain values.
struct library_version {
  std::string name;        ///< "liburing"
  std::string built_with;  ///< "2.9"; empty: the build could not tell
  std::string loaded;      ///< "2.3"; empty: this process has not loaded it, or it does not tell
};

/// Those of the parts that are built in, as this process has them now: PMIx and libfabric are
/// loaded when a launcher asks for them. Any thread.
std::vector<library_version> library_versions();

/// Whether the two versions do not belong together: the loaded one is older. A newer one with the
/// same name of its file keeps the promise that this name makes.
/// \param library  one of library_versions(), or values from elsewhere
/// \return the reason, with the cure; empty: they do, or one of them is not known
std::string mixture(const library_version& library);

}  // namespace weft
