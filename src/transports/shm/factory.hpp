// SPDX-License-Identifier: Apache-2.0
// Makes the transport; core::make_transport (src/api/core.cpp) calls it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <weft/ring_read_policy.hpp>
#include <weft/ring_stores.hpp>

#include "runtime/engine.hpp"
#include "transports/transport.hpp"

namespace weft::transports::shm {

/// Tries whether shared memory is available at all.
/// \return empty, or why not and what would cure it
std::string probe();

/// \param own_bell the context's doorbell, which peers are given; must outlive the transport
/// \param large "auto", "pipeline", "cma" or "direct"
/// \param reading how many frames are taken out of a ring at once
/// \param looks_after the context's engine; null: a thread polls all the time
/// \param stores how payloads are written into a ring
/// \throws weft::error (invalid_argument) for another value of `large`
std::unique_ptr<transport> make(runtime::doorbell& own_bell, const std::string& large,
                                ring_read_policy reading = ring_read_policy::burst,
                                runtime::engine* looks_after = nullptr,
                                ring_stores stores = ring_stores::automatic);

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

/// Memory that peers can map, of a transport that `make` returned.
std::span<std::byte> allocate(transport& shm, std::size_t size);
void free(transport& shm, std::span<std::byte> memory) noexcept;

}  // namespace weft::transports::shm
