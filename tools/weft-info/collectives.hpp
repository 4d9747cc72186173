// SPDX-License-Identifier: Apache-2.0
// --why all_reduce:1m:8: the algorithms of a collective and their costs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace weft::info {

/// Whether the text is about a collective: neither a size nor a peer.
bool is_collective(const std::string& text);

/// For each of the texts the candidates on one host and on several, the choice first.
/// \throws std::invalid_argument, weft::error: what is wrong in which text
nlohmann::ordered_json algorithms(const std::vector<std::string>& about);

void show_algorithms(const nlohmann::ordered_json& all);

}  // namespace weft::info
