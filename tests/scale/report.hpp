// SPDX-License-Identifier: Apache-2.0
// Findings as a table, as JSON lines and as a drawing.
#pragma once

#include <string>
#include <vector>

#include "scale/survey.hpp"

namespace scale {

std::string table_head();
std::string table_line(const finding& f);
std::string json_line(const finding& f);

/// A panel for each collective: time by ranks, both logarithmic, of what weft chooses; dashed: the
/// lower bound.
std::string drawing(const std::vector<finding>& all);

}  // namespace scale
