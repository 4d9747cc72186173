// SPDX-License-Identifier: Apache-2.0
// Types of tagged messages: tags, masks, buffers, and the result of a receive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace weft {

/// The 64-bit value by which a receive selects messages, besides the source. See
/// first_reserved_tag.
struct tag {
  std::uint64_t value = 0;
  friend bool operator==(tag, tag) = default;
};

/// The tags from this one on (top byte 0xfe or 0xff) are weft's own, for streams and groups. An
/// operation with such a tag ends with errc::invalid_argument, and no wildcard matches such a tag.
/// The exception are the tags that `group::own_tag` gives.
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

/// Matches every tag of the application.
inline constexpr tag_mask any_tag{0, 0};

/// Number of an endpoint within its context, or its lane: the peer's rank in a job, which is below
/// 2^25; more for another lane of a rank (endpoint::rank and endpoint::lane_number tell them); or
/// the number that `connect` and `accept` assign in turn, from 2^31 on.
using peer_id = std::uint32_t;
inline constexpr peer_id no_peer = std::numeric_limits<peer_id>::max();

/// The result of a receive or a probe: facts about the message.
struct received {
  peer_id source = no_peer;     ///< the sender
  weft::tag tag = {};           ///< its tag
  std::size_t size = 0;         ///< bytes of the whole message, also when it was truncated
  std::uint64_t immediate = 0;  ///< the sender's immediate word; 0: none
};

/// The longest message that a receive makes memory for (endpoint::recv_value). The sender chooses
/// the size of a message, so memory needs a bound: from a peer that is not trusted, take one that
/// suits the application.
struct at_most {
  std::size_t bytes = std::size_t{1} << 30;
};

/// Memory that a send reads from. Must stay unchanged until the send has ended.
using const_buffer = std::span<const std::byte>;
/// Memory that a receive writes to. Must not be touched until the receive has ended.
using mutable_buffer = std::span<std::byte>;

}  // namespace weft
