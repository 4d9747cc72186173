// SPDX-License-Identifier: Apache-2.0
// One trace out of several.
#pragma once

#include <string>
#include <vector>

#include "part.hpp"

namespace weft::traces {

/// Writes the parts as one trace: a process for each rank, all on the clock of the first one.
/// \param parts several of a rank: of its lanes
/// \return lines for people about clocks of several hosts; empty: there is one
/// \throws std::system_error if the file cannot be written
std::string write_merged(const std::string& file, const std::vector<part>& parts);

}  // namespace weft::traces
