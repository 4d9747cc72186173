// SPDX-License-Identifier: Apache-2.0
// Makes the transport; core::make_transport (src/api/core/core.cpp) calls it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <weft/ring_read_policy.hpp>

#include "runtime/progress/engine.hpp"
#include "transports/shm/stores.hpp"
#include "transports/transport.hpp"

namespace weft::transports::shm {

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
                                runtime::engine* looks_after = nullptr,
                                std::size_t streamed_from = never_streamed);

/// How the rest of a message that the receiver must ask for crosses.
struct copy_route {
  std::string when;
  std::string way;
  std::string why;
};

/// All cases, for the settings of that transport.
/// \param cma whether process_vm_readv works between the two
/// \param has_progress_thread whether the sender has one
std::vector<copy_route> explain_copy(const transport& shm, bool cma, bool has_progress_thread);

/// Where a frame without extension is stored, in words.
std::string explain_frame(std::size_t payload);
/// By which stores a message's payload is written into the ring, in words. \param bytes of the
/// message, in frames of that transport
std::string explain_stores(const transport& shm, std::size_t bytes);

/// Memory that peers can map, of a transport that `make` returned.
std::span<std::byte> allocate(transport& shm, std::size_t size);
void free(transport& shm, std::span<std::byte> memory) noexcept;

}  // namespace weft::transports::shm
