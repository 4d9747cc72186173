// SPDX-License-Identifier: Apache-2.0
// Which transports between processes a suite goes through.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

namespace weft::tests {

/// Those that work on any machine; or, where an RDMA device is known to be, what
/// WEFT_TEST_TRANSPORT names (tests/rdma_guest).
inline std::vector<std::string> transports() {
  const char* const only = std::getenv("WEFT_TEST_TRANSPORT");
  if (only) return {only};
  return {"shm", "qdma", "tcp"};
}

}  // namespace weft::tests
