// SPDX-License-Identifier: Apache-2.0
// Words for tagged messages: tags, masks, buffers, and what a receive tells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace weft {

/// What a receiver selects by, besides the source. 64 bits; see first_reserved_tag.
struct tag {
  std::uint64_t value = 0;
  friend bool operator==(tag, tag) = default;
};

/// Tags from here on, whose top byte is 0xfe or 0xff, are weft's own: streams and barriers. An
/// operation that names one ends with errc::invalid_argument, and no wildcard matches one.
inline constexpr std::uint64_t first_reserved_tag = std::uint64_t{0xfe} << 56;

/// A tag with wildcards: a message matches when its tag equals `value` in every bit that is set in
/// `mask`. A plain `tag` converts to an exact match.
struct tag_mask {
  std::uint64_t value = 0;
  std::uint64_t mask = ~std::uint64_t{0};

  constexpr tag_mask(tag t) noexcept : value(t.value) {}  // NOLINT: a tag is an exact match
  constexpr tag_mask(std::uint64_t v, std::uint64_t m) noexcept : value(v & m), mask(m) {}

  constexpr bool matches(tag t) const noexcept { return (t.value & mask) == value; }
  constexpr bool exact() const noexcept { return mask == ~std::uint64_t{0}; }
};

/// Matches every tag of the application's.
inline constexpr tag_mask any_tag{0, 0};

/// Number of an endpoint within its context: the peer's rank in a job, or the number that `connect`
/// and `accept` assign in turn, from 2^31 on.
using peer_id = std::uint32_t;
inline constexpr peer_id no_peer = std::numeric_limits<peer_id>::max();

/// What a receive or a probe tells about a message.
struct received {
  peer_id source = no_peer;     ///< who sent it
  weft::tag tag = {};           ///< with which tag
  std::size_t size = 0;         ///< bytes of the whole message, also when it was truncated
  std::uint64_t immediate = 0;  ///< what its sender gave along; 0: nothing
};

/// Memory that a send reads from. Must stay unchanged until the send has ended.
using const_buffer = std::span<const std::byte>;
/// Memory that a receive writes to. Must not be touched until the receive has ended.
using mutable_buffer = std::span<std::byte>;

}  // namespace weft
