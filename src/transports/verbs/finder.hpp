// SPDX-License-Identifier: Apache-2.0
// Finds a device, a port of it and an address of that, by trying.
#pragma once

#include <memory>
#include <string>

#include "transports/verbs/device.hpp"
#include "transports/verbs/factory.hpp"

namespace weft::transports::verbs {

/// The first that a queue pair can reach itself by, of what the settings leave.
/// \param why empty, or why there is none and what would cure it
/// \return null: none
std::unique_ptr<device> find(const settings& s, std::string& why);

}  // namespace weft::transports::verbs
