// SPDX-License-Identifier: Apache-2.0
// Makes the transport for one node of a world.
#pragma once

#include <memory>

#include "transports/fake/world.hpp"

namespace weft::transports::fake {

/// \param where the world, which must outlive the transport
/// \param n     the node's number, free so far
/// \param e     the node's engine, in polling mode, which the world turns; outlives the transport
std::unique_ptr<transport> make(world& where, node n, runtime::engine& e);

}  // namespace weft::transports::fake
