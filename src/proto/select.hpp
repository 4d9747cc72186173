// SPDX-License-Identifier: Apache-2.0
// How a message goes: the choices, as functions of nothing but their arguments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "proto/frames.hpp"

namespace weft::proto {

/// Messages up to this many bytes cross in one frame, if the transport takes such long ones.
inline constexpr std::size_t one_frame = 8 * 1024;

/// Units that payloads leave alone, so that headers of large messages still find their way. Every
/// peer is granted them, also beyond the budget: with nothing but these it sends headers only.
inline constexpr std::uint32_t credit_reserve = 16;

/// Units that a peer may send before anything is matched, to begin with: 256 KiB. It grows when the
/// peer runs dry and the budget allows.
inline constexpr std::uint32_t first_window = 4096;

/// What a peer is granted when it connects. The last quarter of the budget goes in ever smaller
/// shares, so that small messages of many peers still need no handshake.
/// \param budget units for all peers \param left of these, not granted yet; may be negative
constexpr std::uint32_t first_grant(std::int64_t budget, std::int64_t left) noexcept {
  const std::int64_t share = left > budget / 4 ? left : left / 256;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(share, credit_reserve, first_window));
}

/// What is sent without being asked for, and whether a rest waits for the receiver's answer.
struct send_plan {
  bool rendezvous;
  std::size_t eager_end;  ///< so many bytes go at once
};

/// \param size        of the message
/// \param eager_limit messages up to this size go whole, if there is credit
/// \param credit      units that the receiver has granted and this side has not used
constexpr send_plan plan_send(std::size_t size, std::size_t eager_limit,
                              std::int64_t credit) noexcept {
  const std::int64_t for_payload = credit - credit_reserve;
  if (size <= eager_limit && units_of(size) <= for_payload) return {false, size};
  const std::int64_t most = std::max<std::int64_t>(0, for_payload - 1) * credit_unit;
  return {true, std::min({size, eager_limit, static_cast<std::size_t>(most)})};
}

/// The longest message that crosses in one frame.
constexpr std::size_t longest_in_one_frame(const transports::traits& t) noexcept {
  return std::min<std::size_t>(one_frame, t.max_payload);
}

/// Bytes of the next frame. Short messages cross in one. Longer ones in pieces, so that the
/// receiver copies one piece out while the sender copies the next one in; small pieces first, to
/// get it going.
///
/// \param t    its fragment and first piece are a unit of credit or more
/// \param sent bytes of the message that have left
/// \param left bytes that may follow now
constexpr std::uint32_t next_piece(const transports::traits& t, std::size_t sent,
                                   std::size_t left) noexcept {
  if (sent == 0 && left <= longest_in_one_frame(t)) return static_cast<std::uint32_t>(left);
  const std::size_t piece =
      std::min<std::size_t>(std::max<std::size_t>(sent / 2, t.first_piece), t.fragment);
  return static_cast<std::uint32_t>(std::min(left, piece / credit_unit * credit_unit));
}

/// More links than this to one peer are not used.
inline constexpr std::size_t most_links = 8;

/// One of several links to a peer, as the choice among them sees it.
struct link_load {
  bool open = false;            ///< it lives
  bool free = false;            ///< and takes a frame now
  std::uint64_t in_flight = 0;  ///< bytes of fragments that have left and are not known to be there
  double rate = 0;              ///< bytes a second, as measured; 0: not known
};

/// No link.
inline constexpr std::size_t no_link = ~std::size_t{0};

/// Which link the next fragment of a message goes over: of those that are free, the one on which it
/// would be there first. None, if all that is left of the message would be there earlier over those
/// that are not free: then it is better to wait for one of them. A link whose rate is not known
/// counts as the fastest known one, and gets two fragments until it is.
///
/// \param size of the fragment
/// \param left bytes of the message that have not left, the fragment among them
std::size_t pick_link(std::span<const link_load> links, std::uint64_t size,
                      std::uint64_t left) noexcept;

/// A choice in words for people.
struct explanation {
  std::string way;
  std::string why;
};

/// What plan_send and next_piece make of a message.
explanation explain_send(std::size_t size, std::size_t eager_limit, std::int64_t credit,
                         const transports::traits& t);

}  // namespace weft::proto
