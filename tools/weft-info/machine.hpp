// SPDX-License-Identifier: Apache-2.0
// What this machine offers to weft, found by trying.
#pragma once

#include <string>
#include <vector>

namespace weft::info {

/// One thing that weft can use. Plain values.
struct finding {
  std::string name;   ///< of the feature
  std::string value;  ///< what was found
  std::string hint;   ///< what is lost without it and how to get it; empty: all is well
};

/// Tries everything. Changes nothing that lasts: a descriptor, a thread or a child process lives
/// for the moment of its test.
std::vector<finding> examine_machine();

/// The same as `examine_machine` does for one word: whether a process may read another of the same
/// user, which is no descendant of it. \return empty: yes; else why not
std::string try_reading_another_process();

}  // namespace weft::info
