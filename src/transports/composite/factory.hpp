// SPDX-License-Identifier: Apache-2.0
// Joins transports; the context makes them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weft/transport/transport.hpp>

namespace weft::transports::composite {

/// \param name  of the whole, as in options::transports: "verbs+tcp"
/// \param parts in order of preference, two at least; the engine polls each part by itself
/// \param shm_limit as options::shm_limit, for explanations; the links obey it by the protocols'
/// settings
std::unique_ptr<transport> make(std::string name, std::vector<std::unique_ptr<transport>> parts,
                                std::optional<std::size_t> shm_limit = {});

}  // namespace weft::transports::composite
