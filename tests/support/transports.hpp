// SPDX-License-Identifier: Apache-2.0
// The transports between processes that a suite uses.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "support/parts.hpp"

namespace weft::tests {

/// Those that work on any machine; or, where an RDMA device is known to exist, the one that
/// WEFT_TEST_TRANSPORT names (tests/rdma_guest).
inline std::vector<std::string> transports() {
  const char* const only = std::getenv("WEFT_TEST_TRANSPORT");
  if (only) return {only};
  if (!has_part("qdma")) return {"shm", "tcp"};
  return {"shm", "qdma", "tcp"};
}

}  // namespace weft::tests
