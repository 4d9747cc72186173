// SPDX-License-Identifier: Apache-2.0
// The version of the library, and the parts that it was built with.
#pragma once

#include <span>

namespace weft {

/// "0.1.0": the version of the library that is linked. Any thread.
const char* version() noexcept;

/// A part that a build of weft may leave out.
struct build_part {
  const char* name;     ///< "verbs"; of a transport, its name
  const char* option;   ///< "WEFT_WITH_VERBS", the CMake variable
  bool built_in;        ///< whether this library has it
  const char* meaning;  ///< what it is for
};

/// All of them, for programs that print or check them. Any thread.
std::span<const build_part> build_parts() noexcept;

}  // namespace weft
