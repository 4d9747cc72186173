// SPDX-License-Identifier: Apache-2.0
// Makes the transport for one node of a world.
#pragma once

#include <memory>
#include <optional>

#include "transports/fake/world.hpp"

namespace weft::transports::fake {

/// \param where the world, which must outlive the transport
/// \param n     the node's number, free so far or this engine's
/// \param e     the node's engine, in polling mode and with the world as its clock; driven by the
///   world; outlives the transport. A node with several transports has one engine.
/// \param how   how the transport treats its frames; nothing: as the world's settings say
std::unique_ptr<transport> make(world& where, node n, runtime::engine& e,
                                const std::optional<manner>& how = {});

}  // namespace weft::transports::fake
