// SPDX-License-Identifier: Apache-2.0
// Makes the transport.
#pragma once

#include <memory>
#include <string>

#include <weft/rendezvous.hpp>
#include <weft/transport/factory.hpp>
#include <weft/transport/transport.hpp>

#include "runtime/progress/own_services.hpp"

namespace weft::transports::qdma {

/// For the table of transports.
factory kind();

/// Tries whether shared memory is available at all.
/// \return empty, or why not and what would cure it
std::string probe();

/// \param e of the context; must outlive the transport
/// \param ends how the end of a copy is told to this process
/// \throws weft::error (system)
std::unique_ptr<transport> make(runtime::own_services& e, copy_completion ends);

}  // namespace weft::transports::qdma
