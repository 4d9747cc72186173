// SPDX-License-Identifier: Apache-2.0
// Joins transports; the context makes them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <weft/transport/transport.hpp>

namespace weft::transports::composite {

/// \param name  of the whole, as in options::transports: "verbs+tcp"
/// \param parts in order of preference, two at least; the engine polls each part by itself
std::unique_ptr<transport> make(std::string name, std::vector<std::unique_ptr<transport>> parts);

}  // namespace weft::transports::composite
