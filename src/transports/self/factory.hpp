// SPDX-License-Identifier: Apache-2.0
// Makes the transport; core::make_transport (src/api/core/core.cpp) calls it.
#pragma once

#include <memory>

#include "runtime/progress/engine.hpp"
#include "transports/transport.hpp"

namespace weft::transports::self {

/// \param engine of the context; outlives the transport
std::unique_ptr<transport> make(runtime::engine& engine);

}  // namespace weft::transports::self
