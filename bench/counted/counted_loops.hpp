// SPDX-License-Identifier: Apache-2.0
// The loops whose instructions `weft-bench instructions` counts. Compiled with the optimisation of
// the library in every preset, because coroutines and scopes are templates of their users.
#pragma once

#include <string>
#include <vector>

namespace weft::bench {

/// One side of a loop over shared memory, between two contexts of this process.
struct counted_loop {
  std::string name;   ///< for the command line
  std::string title;  ///< for people
  unsigned messages;  ///< within the counted part
};

/// All of them: windows of 64 messages of 8 bytes and single ones, by coroutines and by weft.h.
const std::vector<counted_loop>& counted_loops();

/// Runs both sides of the loop, in turns, so that no poll is empty because the other side is slow.
/// Under callgrind with --collect-atstart=no, only the side that the loop names is counted, without
/// its first windows. \throws std::invalid_argument: there is no such loop; weft::error
void run_counted(const std::string& name);

}  // namespace weft::bench
