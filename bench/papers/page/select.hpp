// SPDX-License-Identifier: Apache-2.0
// The lines of a command that a series selects, as values.
#pragma once

#include <string>
#include <vector>

#include "page/experiment.hpp"
#include "page/record.hpp"

namespace weft::bench::page {

/// The values of a series, one for each x. A value is the median of those of the command's runs,
/// and a run's the median of its lines for that place. What is missing or doubtful becomes a note.
std::vector<value> select(const measured_series& what, const record& from,
                          std::vector<std::string>& notes);

}  // namespace weft::bench::page
