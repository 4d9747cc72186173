// SPDX-License-Identifier: Apache-2.0
// The transports between processes that a suite uses.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

namespace weft::tests {

#ifdef WEFT_WITHOUT_QDMA
inline constexpr bool has_qdma = false;
#else
inline constexpr bool has_qdma = true;
#endif

/// Those that work on any machine; or, where an RDMA device is known to exist, the one that
/// WEFT_TEST_TRANSPORT names (tests/rdma_guest).
inline std::vector<std::string> transports() {
  const char* const only = std::getenv("WEFT_TEST_TRANSPORT");
  if (only) return {only};
  if (!has_qdma) return {"shm", "tcp"};
  return {"shm", "qdma", "tcp"};
}

}  // namespace weft::tests
