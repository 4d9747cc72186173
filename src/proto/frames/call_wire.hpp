// SPDX-License-Identifier: Apache-2.0
// The messages and frames of calls. docs/wire-format.md, "Calls".
#pragma once

#include <chrono>
#include <cstdint>

#include <weft/operations/calls.hpp>

#include "proto/frames/frames.hpp"

namespace weft::proto {

/// A call is an ordinary message, so that the eager protocol, the rendezvous, credit and order are
/// those of messages. A call with bytes and without a deadline has no extension.
///
///   63-56  0xfe     51-48  call_kind
///   55     0        47-32  the number of the call at its caller; 0 in a post
///   54     1        31-0   the number of the handler; in a reply, its call_status; in an item 0
///   53-52  0
inline constexpr std::uint64_t call_tags = std::uint64_t{0xfe} << 56 | std::uint64_t{1} << 54;
inline constexpr std::uint64_t call_tags_mask = std::uint64_t{0xfff} << 52;

enum class call_kind : std::uint8_t {
  request = 1,     ///< awaits a reply
  post,            ///< awaits none
  reply,           ///< the last message of a call
  stream_request,  ///< awaits items, and then an empty reply
  item             ///< one value of a stream, by the called side
};

enum class call_status : std::uint8_t {
  ok,
  refused,  ///< the body is a text: no handler, or the handler failed
  stopped,  ///< the handler ended because the caller, or the deadline, stopped it
  types,    ///< the body is the signature of the handler, which the call's is not
  closed    ///< the body is a text: the handler is ending, or all handlers have ended
};

struct call_tag {
  call_kind kind;
  local_id id;
  std::uint32_t number;

  constexpr std::uint64_t packed() const noexcept {
    return call_tags | std::uint64_t{static_cast<std::uint8_t>(kind)} << 48 |
           std::uint64_t{id} << 32 | number;
  }
};

constexpr bool is_call(std::uint64_t tag) noexcept { return (tag & call_tags_mask) == call_tags; }

constexpr call_tag unpack_call(std::uint64_t tag) noexcept {
  return {static_cast<call_kind>(tag >> 48 & 0xf), static_cast<local_id>(tag >> 32),
          static_cast<std::uint32_t>(tag)};
}

/// The word of a request or a post: above the fingerprint of its types, 0 where it has bytes; below
/// the time that is left, 0 of a post.
constexpr std::uint64_t call_word(std::uint32_t fingerprint, std::uint32_t remaining) noexcept {
  return std::uint64_t{fingerprint} << 32 | remaining;
}
constexpr std::uint32_t fingerprint_in(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word >> 32);
}
constexpr std::uint32_t remaining_in(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word);
}

/// Whether a correct peer can send a message with that tag. \param immediate its word
constexpr bool is_valid(call_tag t, std::uint64_t immediate) noexcept {
  switch (t.kind) {
    case call_kind::request:
    case call_kind::stream_request:
      return t.id != 0;
    case call_kind::item:
      return t.id != 0 && t.number == 0 && immediate == 0;
    case call_kind::post:
      return t.id == 0 && remaining_in(immediate) == 0;
    case call_kind::reply:
      return t.id != 0 && immediate == 0 &&
             t.number <= static_cast<std::uint32_t>(call_status::closed);
  }
  return false;
}

constexpr bool is_answer(call_tag t) noexcept { return t.kind == call_kind::reply; }

/// Whether the sender of a message with that tag begins something by it. False: the message is owed
/// to the peer, or goes on with something that has begun.
constexpr bool begins_something(std::uint64_t tag) noexcept {
  if (!is_call(tag)) return tag < first_reserved_tag || detail::is_group_tag(weft::tag{tag});
  const call_kind kind = unpack_call(tag).kind;
  return kind != call_kind::reply && kind != call_kind::item;
}

/// The time that is left: microseconds, or with the highest bit milliseconds; 0: no deadline, or
/// one in more than 24 days, beyond which nothing is different. A duration, since clocks of two
/// hosts differ.
inline std::uint32_t pack_remaining(detail::time_point deadline, detail::time_point now) noexcept {
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
  if (deadline == detail::time_point::max()) return 0;
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(deadline - now).count();
  if (left <= 0) return 1;
  if (left <= most) return static_cast<std::uint32_t>(left);
  return left / 1000 > most ? 0 : static_cast<std::uint32_t>(left / 1000) | std::uint32_t{1} << 31;
}
inline detail::time_point unpack_remaining(std::uint32_t word, detail::time_point now) noexcept {
  if (word == 0) return detail::time_point::max();
  const std::int64_t count = word & 0x7fff'ffff;
  return now + ((word >> 31) != 0 ? detail::time_point::duration(std::chrono::milliseconds(count))
                                  : std::chrono::microseconds(count));
}

/// How many items a caller lets come ahead of those that it has taken, and how many more each
/// call_more allows.
inline constexpr std::uint32_t most_items_ahead = 16;
inline constexpr std::uint32_t items_in_grant = most_items_ahead / 2;

/// Bytes of the text of a refusal.
inline constexpr std::size_t longest_refusal = 1024;
/// Bytes of a call that an inline handler takes, and of its reply: those of one frame.
inline constexpr std::size_t longest_inline = 8 * 1024;

}  // namespace weft::proto
