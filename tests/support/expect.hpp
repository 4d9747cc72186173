// SPDX-License-Identifier: Apache-2.0
// A check for the threads and processes that Catch2 knows nothing of.
#pragma once

#include <stdexcept>
#include <string>

namespace weft::tests {

/// \throws std::logic_error with `what`, which says what should hold, unless it holds
inline void expect(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error("not so: " + what);
}

}  // namespace weft::tests
