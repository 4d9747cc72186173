// SPDX-License-Identifier: Apache-2.0
// weft-info --merge-traces: one trace of ranks on several hosts.
#pragma once

#include <string>
#include <vector>

namespace weft::info {

/// \param files the new one, and then those of the ranks
/// \return lines for people: how the clocks of the hosts were brought together, and files that are
///   no traces of ranks
/// \throws std::runtime_error if none is
std::string merge_traces(const std::vector<std::string>& files);

}  // namespace weft::info
