// SPDX-License-Identifier: Apache-2.0
// Makes the transport; the context lists factories explicitly.
#pragma once

#include <memory>
#include <string>

#include "runtime/doorbell.hpp"
#include "transports/transport.hpp"

namespace weft::transports::shm {

/// Tries whether shared memory can be had at all.
/// \return empty, or why not and what would cure it
std::string probe();

/// \param door the context's doorbell, which peers are handed; must outlive the transport
/// \param large "auto", "pipeline", "cma" or "direct"
/// \throws weft::error (invalid_argument) for another word
std::unique_ptr<transport> make(runtime::doorbell& door, const std::string& large);

/// Memory that peers can map, of a transport that `make` returned.
std::span<std::byte> allocate(transport& shm, std::size_t size);
void free(transport& shm, std::span<std::byte> memory) noexcept;

}  // namespace weft::transports::shm
