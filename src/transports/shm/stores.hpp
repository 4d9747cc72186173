// SPDX-License-Identifier: Apache-2.0
// Copies into a ring by streaming stores, which go past the cache.
#pragma once

#include <cstddef>
#include <limits>

#include <weft/ring_stores.hpp>

#include "transports/frame.hpp"

namespace weft::transports::shm {

/// The smallest payload of a frame that is streamed: behind each the sender waits until its stores
/// have left the core.
inline constexpr std::size_t smallest_streamed = 4096;

/// \return the payloads from this size on are streamed
constexpr std::size_t streamed_from(ring_stores asked) noexcept {
  return asked == ring_stores::streaming ? smallest_streamed
                                         : std::numeric_limits<std::size_t>::max();
}

/// As copy_out (transports/frame.hpp). Later stores of this thread become visible after all bytes.
void stream_out(std::byte* to, gather& from, std::size_t n) noexcept;
/// The same out of one piece.
void stream_out(std::byte* to, const std::byte* from, std::size_t n) noexcept;

}  // namespace weft::transports::shm
