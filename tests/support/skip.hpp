// SPDX-License-Identifier: Apache-2.0
// A test that cannot run on this machine says so and counts as skipped, neither passed nor failed.
#pragma once

#include <iostream>
#include <string_view>

namespace weft::tests {

inline constexpr int skip_exit_code = 77;

/// Whether a test of this process was skipped. ctest starts a process per test case.
inline bool& skipped() noexcept {
  static bool flag = false;
  return flag;
}

/// Use as `return skip("no io_uring in this container");` before the first assertion that needs it.
/// \param reason what is missing here, for the test's output
inline void skip(std::string_view reason) {
  skipped() = true;
  std::cout << "skipped: " << reason << '\n';
}

}  // namespace weft::tests
