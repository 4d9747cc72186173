// SPDX-License-Identifier: Apache-2.0
// Makes the transport.
#pragma once

#include <memory>

#include <weft/transport/factory.hpp>
#include <weft/transport/services.hpp>
#include <weft/transport/transport.hpp>

namespace weft::transports::self {

/// For the table of transports.
factory kind();

/// \param engine of the context; outlives the transport
std::unique_ptr<transport> make(services& engine);

}  // namespace weft::transports::self
