// SPDX-License-Identifier: Apache-2.0
// The side whose other side is started by a server.
#pragma once

#include <functional>

#include "stage/settings.hpp"
#include "support/pair.hpp"

namespace weft::bench {

/// Connects to the server `chosen.to`, which starts side 1 with the command line of this process,
/// and runs `body` as side 0.
/// \throws std::runtime_error  the server cannot be reached, is busy or refuses; the other side has
///         failed, with its reason; server or host have gone
void be_client(const settings& chosen, const std::function<void(pair_member&)>& body);

}  // namespace weft::bench
