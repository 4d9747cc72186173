// SPDX-License-Identifier: Apache-2.0
// The transports that a context's options name.
#pragma once

#include <weft/options.hpp>

#include "connections/transport_list.hpp"
#include "runtime/progress/engine.hpp"

namespace weft::detail {

/// Makes them in the order of options::transports, and adds what polls to the engine. Those that
/// cannot be used here are in the list with the reason.
/// \param e    of the lane, not started yet
/// \param into filled
/// \throws weft::error (invalid_argument): a name or a factory that makes no sense
void make_transports(runtime::engine& e, const options& chosen, connections::transport_list& into);

}  // namespace weft::detail
