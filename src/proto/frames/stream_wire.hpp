// SPDX-License-Identifier: Apache-2.0
// The messages that the two ends of a stream send each other. docs/wire-format.md, "Streams".
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "proto/frames/frames.hpp"

namespace weft::proto {

/// The direction of bytes, as seen by the end that was opened first. Between two peers both ends
/// count as that end; a stream of a peer with itself has one of each. The stream of an object
/// (object_ops.hpp) has numbers and directions of its own.
enum class stream_way : std::uint8_t { forth, back, object_forth, object_back };

constexpr stream_way opposite(stream_way w) noexcept {
  return static_cast<stream_way>(static_cast<std::uint8_t>(w) ^ 1);
}

/// Tags with this top byte belong to streams.
inline constexpr std::uint64_t stream_tags = std::uint64_t{0xfe} << 56;

/// The tag of the messages that carry bytes in direction `w`.
constexpr std::uint64_t stream_data_tag(std::uint32_t number, stream_way w) noexcept {
  return stream_tags | std::uint64_t{static_cast<std::uint8_t>(w)} << 32 | number;
}
/// The tag of the messages of their reader to their writer.
constexpr std::uint64_t stream_allowance_tag(std::uint32_t number, stream_way w) noexcept {
  return stream_data_tag(number, w) | std::uint64_t{1} << 40;
}

/// A message of no bytes ends a direction. Its immediate word says how many bytes came before, or
/// that the writer dropped the stream without finishing.
inline constexpr std::uint64_t stream_dropped = std::numeric_limits<std::uint64_t>::max();

/// A reader's message: how much may be written, or that it reads no more.
struct stream_allowance {
  static constexpr std::uint32_t current_magic = 0x31'74'73'77;  // "wst1"

  std::uint32_t magic = current_magic;
  std::uint32_t longest = 0;  ///< bytes of the longest message; 0: this is the last one
  std::uint64_t limit = 0;    ///< units (stream_units) of all messages so far and to come; in the
                              ///< last one the bytes that the application has read
};
static_assert(sizeof(stream_allowance) == 16);

/// The units of a window that a message takes. The window bounds bytes; credit accounts for the
/// memory of the message.
constexpr std::uint32_t stream_units(std::size_t bytes) noexcept {
  return 1 + payload_units(bytes);
}

/// A window has room for so many of the longest messages.
inline constexpr std::size_t stream_pieces = 4;
inline constexpr std::size_t smallest_stream_window = std::size_t{4} << 10;
inline constexpr std::size_t largest_stream_window = std::size_t{1} << 30;
inline constexpr std::uint32_t longest_stream_message = largest_stream_window / stream_pieces;

/// How many messages of one stream are taken at once, however many have come.
inline constexpr int stream_slice = 256;
/// A reader has no more than a few allowances to tell before its writer writes again.
inline constexpr int most_unheard_allowances = 64;

/// Whether `next` may follow `before` at a writer. \param first there was no allowance before
constexpr bool allowance_follows(const stream_allowance& next, const stream_allowance& before,
                                 bool first) noexcept {
  if (next.magic != stream_allowance::current_magic) return false;
  if (next.longest == 0) return true;
  return next.longest <= longest_stream_message && next.limit < std::uint64_t{1} << 62 &&
         (first || (next.longest == before.longest && next.limit >= before.limit));
}

}  // namespace weft::proto
