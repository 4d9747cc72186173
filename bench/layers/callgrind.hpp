// SPDX-License-Identifier: Apache-2.0
// Instructions by callgrind, part of valgrind (packages/build.txt).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::bench {

/// Instructions of one function that come from one source file: its own, or that of a function that
/// was compiled into it.
struct instruction_count {
  std::string file;      ///< where the code stands; empty: unknown
  std::string function;  ///< whose code it became
  std::string home;      ///< the file of that function
  std::uint64_t instructions;
};

/// Runs this program under callgrind, and reads its counts.
/// \param arguments of the program; it counts between the client requests that toggle collection
/// \throws std::runtime_error: valgrind is missing, or the program failed
std::vector<instruction_count> count_instructions(const std::vector<std::string>& arguments);

}  // namespace weft::bench
