// SPDX-License-Identifier: Apache-2.0
// weft-info topics ADDRESS: the topics of a running program.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include <weft/options.hpp>

namespace weft::info {

/// Connects to the program that listens there, which sees a peer come and go.
/// \param chosen of the context that connects \param address as for context::connect
/// \throws weft::error
nlohmann::ordered_json topics(const options& chosen, const std::string& address);

void show_topics(const nlohmann::ordered_json& all);

}  // namespace weft::info
