// SPDX-License-Identifier: Apache-2.0
// What may have started this process, and which of these counts.
#pragma once

#include <nlohmann/json.hpp>

namespace weft::info {

/// All starters that weft knows, in order, with the variables that count or the one that is
/// missing.
nlohmann::ordered_json starters();

/// Whether a context would wait for the other ranks of a job that meets at rank 0.
bool would_wait(const nlohmann::ordered_json& all);

void show_starters(const nlohmann::ordered_json& all);

}  // namespace weft::info
