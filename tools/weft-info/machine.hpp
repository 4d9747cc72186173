// SPDX-License-Identifier: Apache-2.0
// The features of this machine that weft uses, found by trying.
#pragma once

#include <string>
#include <vector>

namespace weft::info {

/// One feature that weft can use. Plain values.
struct finding {
  std::string name;   ///< of the feature
  std::string value;  ///< the result
  std::string hint;   ///< the effect without it and how to get it; empty: the feature works
};

/// Tries the features of the kernel; the first finding is its release.
std::vector<finding> examine_kernel();

/// Tries these, and looks at the cores and the limits, too. Leaves no change, as the other: a
/// descriptor, a thread or a child process lives only during its test.
std::vector<finding> examine_machine();

/// Tests with one word whether a process may read the memory of another process of the same user
/// that is not its descendant, as `examine_machine` does. \return empty: yes; else the reason
std::string try_reading_another_process();

}  // namespace weft::info
