// SPDX-License-Identifier: Apache-2.0
// dump_format: the forms of context::dump.
#pragma once

#include <cstdint>

namespace weft {

/// The forms of a dump: what a context waits for. docs/debugging.md explains the lines.
enum class dump_format : std::uint8_t {
  text,  ///< lines for people, as a signal prints them; programs should not read them
  json   ///< one line: an object, whose members docs/debugging.md lists; there may be more later
};

}  // namespace weft
