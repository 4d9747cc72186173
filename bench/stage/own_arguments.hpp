// SPDX-License-Identifier: Apache-2.0
// The command line of this process, for other processes that do the same.
#pragma once

#include <string>
#include <vector>

namespace weft::bench {

/// Without the program.
std::vector<std::string> own_arguments();

}  // namespace weft::bench
