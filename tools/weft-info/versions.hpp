// SPDX-License-Identifier: Apache-2.0
// weft-info --version: what weft was built with, what this machine has, and whether they belong
// together.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace weft::info {

/// The version, and the parts that this build has and has not, in lines.
std::string build_text();

/// The parts of the build.
nlohmann::ordered_json parts();

/// Everything that `weft-info --version` tells. Loads the libraries that weft loads only when a
/// launcher asks for them.
nlohmann::ordered_json versions();

/// The same as text.
void show_versions(const nlohmann::ordered_json& all);

}  // namespace weft::info
