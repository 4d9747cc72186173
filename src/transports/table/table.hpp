// SPDX-License-Identifier: Apache-2.0
// The transports that are built in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <weft/transport/factory.hpp>

namespace weft::transports {

/// All kinds of transports of this library, also those that this build lacks: their factories say
/// so. Any thread.
const std::vector<factory>& built_in();

/// \param others options::transport_factories
/// \return null: there is no transport of that name
const factory* find(std::string_view name, const std::vector<factory>& others);

/// "self, shm and tcp": the names that options::transports may have, for people.
std::string names_of(const std::vector<factory>& others);

}  // namespace weft::transports
