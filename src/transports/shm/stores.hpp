// SPDX-License-Identifier: Apache-2.0
// Copies into a ring by streaming stores, which go past the cache.
#pragma once

#include <cstddef>
#include <limits>

#include <weft/ring_stores.hpp>
#include <weft/transport/frame.hpp>

namespace weft::transports::shm {

/// No payload is streamed.
inline constexpr std::size_t never_streamed = std::numeric_limits<std::size_t>::max();

/// Elsewhere than on x86 the functions below copy through the cache.
#ifdef __SSE2__
inline constexpr bool can_stream = true;
#else
inline constexpr bool can_stream = false;
#endif

/// \param from of streaming stores: the smallest payload of a frame that is streamed
/// \return the payloads from this size on are streamed
constexpr std::size_t streamed_from(ring_stores asked, std::size_t from) noexcept {
  return can_stream && asked == ring_stores::streaming ? from : never_streamed;
}

/// As copy_out (weft/transport/frame.hpp). Later stores of this thread become visible after all
/// bytes.
void stream_out(std::byte* to, gather& from, std::size_t n) noexcept;
/// The same out of one piece.
void stream_out(std::byte* to, const std::byte* from, std::size_t n) noexcept;

}  // namespace weft::transports::shm
