// SPDX-License-Identifier: Apache-2.0
// Makes the transport.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <weft/ring_read_policy.hpp>
#include <weft/transport/factory.hpp>
#include <weft/transport/services.hpp>
#include <weft/transport/transport.hpp>

#include "runtime/sleep/doorbell.hpp"
#include "transports/shm/stores.hpp"

namespace weft::transports::shm {

/// For the table of transports.
factory kind();

/// Tries whether shared memory is available at all.
/// \return empty, or why not and what would cure it
std::string probe();

/// \param own_bell the context's doorbell, which peers are given; must outlive the transport
/// \param large "auto", "pipeline", "cma" or "direct"
/// \param reading how many frames are taken out of a ring at once
/// \param looks_after the context's engine; null: a thread polls all the time
/// \param streamed_from payloads of this size and longer ones are written past the cache
/// \throws weft::error (invalid_argument) for another value of `large`
std::unique_ptr<transport> make(runtime::doorbell& own_bell, const std::string& large,
                                ring_read_policy reading = ring_read_policy::burst,
                                services* looks_after = nullptr,
                                std::size_t streamed_from = never_streamed);

}  // namespace weft::transports::shm
