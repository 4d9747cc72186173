// SPDX-License-Identifier: Apache-2.0
// Finds a device, a port of it and an address of that port, by trial.
#pragma once

#include <memory>
#include <string>

#include "transports/verbs/factory.hpp"
#include "transports/verbs/hardware/device.hpp"

namespace weft::transports::verbs {

/// The first device, of those that the settings allow, with an address by which a queue pair
/// reaches itself.
/// \param why empty, or why there is none and what would cure it
/// \return null: none
std::unique_ptr<device> find(const settings& s, std::string& why);

}  // namespace weft::transports::verbs
