// SPDX-License-Identifier: Apache-2.0
// Makes the transport; core::make_transport (src/api/core/core.cpp) calls it.
#pragma once

#include <memory>
#include <string>

#include <weft/rendezvous.hpp>

#include "runtime/progress/engine.hpp"
#include "transports/transport.hpp"

namespace weft::transports::qdma {

/// Tries whether shared memory is available at all.
/// \return empty, or why not and what would cure it
std::string probe();

/// \param e of the context; must outlive the transport
/// \param ends how the end of a copy is told to this process
/// \throws weft::error (system)
std::unique_ptr<transport> make(runtime::engine& e, copy_completion ends);

}  // namespace weft::transports::qdma
