// SPDX-License-Identifier: Apache-2.0
// How a message crosses: the choices, as pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <weft/rendezvous.hpp>

#include "proto/frames/frames.hpp"

namespace weft::proto {

/// Messages up to this many bytes cross in one frame, if the transport takes frames of that size.
inline constexpr std::size_t one_frame = 8 * 1024;

/// Bytes after which one transfer leaves the engine to others.
inline constexpr std::size_t bytes_per_turn = 512 * 1024;

/// How many messages of a peer that has gone one pass releases.
inline constexpr std::size_t messages_per_pass = 256;

/// Units that payloads do not use, so that headers of messages can always be sent.
inline constexpr std::uint32_t credit_reserve = 8 * message_units;

/// Every peer is granted these, also beyond the budget. A sender with no more sends headers only.
inline constexpr std::uint32_t smallest_grant = credit_reserve + answer_units;

/// Units that a peer may send at first before anything is matched: 512 KiB. The window grows when
/// the peer runs out of credit and the budget allows.
inline constexpr std::uint32_t first_window = 8192;

/// The units that a peer is granted when it connects. The last quarter of the budget goes in ever
/// smaller shares, so that small messages of many peers still need no handshake.
/// \param budget units for all peers \param left of these, not granted yet; may be negative
constexpr std::uint32_t first_grant(std::int64_t budget, std::int64_t left) noexcept {
  const std::int64_t share = left > budget / 4 ? left : left / 512;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(share, smallest_grant, first_window));
}

/// The units that a peer is granted when its credit is fixed at so many bytes.
constexpr std::uint32_t fixed_grant(std::size_t bytes) noexcept {
  return static_cast<std::uint32_t>(
      std::clamp<std::size_t>(bytes / credit_unit, smallest_grant, largest_window));
}

/// How much is sent without a request, and whether a rest waits for the receiver's answer.
struct send_plan {
  bool rendezvous;
  std::size_t eager_end;  ///< bytes that go at once
  bool starved = false;   ///< with more credit more bytes would go
};

/// Whether the beginning of a message above the eager limit goes along with its request.
constexpr bool inlines(rendezvous_eager_data wanted, const transports::traits& t) noexcept {
  return wanted == rendezvous_eager_data::automatic ? t.prefers_eager_data
                                                    : wanted == rendezvous_eager_data::yes;
}

/// Whether the frame that tells of a read or a write is chained to it.
constexpr bool chains(chained_fin wanted, const transports::traits& t) noexcept {
  return wanted == chained_fin::automatic ? t.chains_fin : wanted == chained_fin::yes;
}

/// \param size        of the message
/// \param eager_limit messages up to this size go whole, if there is credit
/// \param credit      units that the receiver has granted and this side has not used
/// \param beginning   so many bytes of a longer message go at once, up to the eager limit
constexpr send_plan plan_send(std::size_t size, std::size_t eager_limit, std::int64_t credit,
                              std::size_t beginning = ~std::size_t{0}) noexcept {
  const std::int64_t for_payload = credit - credit_reserve;
  if (size <= eager_limit && units_of(size) <= for_payload) return {false, size};
  const std::size_t wanted = std::min(size <= eager_limit ? size : beginning, eager_limit);
  const std::int64_t most = std::max<std::int64_t>(0, for_payload - message_units) * credit_unit;
  const std::size_t eager_end = std::min(wanted, static_cast<std::size_t>(most));
  return {true, eager_end, size <= eager_limit || eager_end < wanted};
}

/// Bytes of the first piece of a list, which goes with the request, wherever the rest of the
/// message goes; 0: there is none that does.
constexpr std::size_t head_of(std::span<const const_buffer> list) noexcept {
  return list.size() < 2 || list.front().size() > longest_head ? 0 : list.front().size();
}

/// How the rest of a message crosses once its receive has matched it.
enum class payload_scheme : std::uint8_t { frames, get, put };

/// The sender's choice: whether its request says where the data can be read.
/// \param prefers_put the link's preference
constexpr bool offers_read(rendezvous_scheme wanted, bool prefers_put) noexcept {
  return wanted == rendezvous_scheme::get ||
         (wanted == rendezvous_scheme::automatic && !prefers_put);
}

/// The sender's choice: whether it writes to a place that the receiver names.
constexpr bool takes_write(rendezvous_scheme wanted) noexcept {
  return wanted == rendezvous_scheme::put || wanted == rendezvous_scheme::automatic;
}

/// The facts that the receiver knows.
struct payload_facts {
  rendezvous_scheme wanted = rendezvous_scheme::automatic;
  bool readable = false;     ///< the sender named a place, and reading there has not failed
  bool prefers_get = false;  ///< the link's preference for that place
  bool writable = false;  ///< the receive is one piece of memory that the whole message fits into
  bool prefers_put = false;  ///< the link's preference
};

/// The receiver's choice.
constexpr payload_scheme payload_scheme_for(const payload_facts& f) noexcept {
  const bool asked_to = f.wanted != rendezvous_scheme::automatic;
  if (f.readable && (asked_to ? f.wanted == rendezvous_scheme::get : f.prefers_get))
    return payload_scheme::get;
  if (f.writable && (asked_to ? f.wanted == rendezvous_scheme::put : f.prefers_put))
    return payload_scheme::put;
  return payload_scheme::frames;
}

/// How many reads from one peer are under way at once; other messages wait until one has ended.
inline constexpr std::size_t most_reads = 16;

/// The longest message that crosses in one frame.
constexpr std::size_t longest_in_one_frame(const transports::traits& t) noexcept {
  return std::min<std::size_t>(one_frame, t.max_payload);
}

/// Bytes of the next frame. Short messages cross in one. Longer ones go in pieces, so that the
/// receiver copies one piece out while the sender copies the next one in; the first pieces are
/// small, so that the receiver begins early.
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

/// Whether a frame of its own announces so many bytes that go without a request.
constexpr bool is_announced(const transports::traits& t, std::size_t bytes) noexcept {
  return t.announced_beyond != 0 && bytes > t.announced_beyond;
}

/// The largest number of links to one peer that are used.
inline constexpr std::size_t most_links = 8;

/// The load of one of several links to a peer, for pick_link.
struct link_load {
  bool open = false;  ///< it is alive
  bool free = false;  ///< and takes a frame now
  std::uint64_t in_flight =
      0;            ///< bytes of fragments that have left and are not known to have arrived
  double rate = 0;  ///< bytes a second, as measured; 0: not known
};

/// No link.
inline constexpr std::size_t no_link = ~std::size_t{0};

/// The link for the next fragment of a message: of the links that are free, the one on which the
/// fragment would arrive first. None, if the whole rest of the message would arrive earlier over
/// the links that are not free: then it is better to wait for one of them. A link with an unknown
/// rate counts as the fastest known one, and gets two fragments until its rate is known.
///
/// \param size of the fragment
/// \param left bytes of the message that have not left, the fragment included
std::size_t pick_link(std::span<const link_load> links, std::uint64_t size,
                      std::uint64_t left) noexcept;

/// A choice, in words for people.
struct explanation {
  std::string way;
  std::string why;
};

/// Explains the choices of plan_send and next_piece for a message.
explanation explain_send(std::size_t size, std::size_t eager_limit, std::int64_t credit,
                         const transports::traits& t,
                         rendezvous_eager_data inlined = rendezvous_eager_data::automatic);

/// Explains how the rest crosses where the transport does not choose.
/// \param wanted not automatic
explanation explain_payload(rendezvous_scheme wanted);

}  // namespace weft::proto
