// SPDX-License-Identifier: Apache-2.0
// What `weft-bench calls` is asked for, and its comparison with other libraries.
#pragma once

#include <cstddef>
#include <vector>

#include "stage/turns.hpp"

namespace weft::bench::calls_command {

struct request : turns_request {
  request() { rounds = 0; }          ///< as each comparison has them
  std::vector<std::size_t> sizes{};  ///< likewise
  std::size_t outstanding = 64;
  double effort = 1;   ///< factor on the number of calls
  bool peers = false;  ///< beside other libraries
};

/// Calls of weft, over shm and over tcp, and of each other library that this build has, in rounds
/// of short runs one after the other. Prints a table. For a process with one thread.
/// \throws std::runtime_error when weft itself fails
void beside_peers(const request& wanted);

}  // namespace weft::bench::calls_command
