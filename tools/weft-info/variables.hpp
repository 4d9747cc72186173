// SPDX-License-Identifier: Apache-2.0
// The WEFT_* variables, as weft-info shows them.
#pragma once

#include <nlohmann/json.hpp>

#include <weft/options.hpp>

namespace weft::info {

/// The name of the configuration file, the variables of both tables with their present values, and
/// the names of those that are set and mean nothing to weft.
nlohmann::ordered_json variables(const options& now);

/// Prints the settings, and the variables for experiments that are set.
/// \param all_experiments also those that are not set
void show_variables(const nlohmann::ordered_json& report, bool all_experiments);

}  // namespace weft::info
