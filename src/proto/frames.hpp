// SPDX-License-Identifier: Apache-2.0
// The frames that the protocols exchange. docs/wire-format.md, "Protocol", has the byte tables.
#pragma once

#include <cstdint>

#include "transports/transport.hpp"

namespace weft::proto {

using transports::frame_extension;
using transports::frame_header;
using transports::remote_address;

/// frame_header::kind. `eager` or `rts` begins a *message*; its next frames that follow directly
/// are `more`; at most one message per link and direction is in that state.
enum class frame_kind : std::uint8_t {
  eager = 1,  ///< a message: whole if it has no extension, else its beginning, which may be empty
              ///< (a = size, b = id if the sender wants `matched`, else 0)
  more,       ///< continues the message begun last on this link
  rts,   ///< request to send: the beginning of a message whose rest waits for an answer (a = id <<
         ///< 48 | size, b = where the data can be read, packed; 0: no place)
  cts,   ///< clear to send (a = the sender's id, b = the receiver's id; with a third word: where
         ///< the message may be written instead, packed)
  data,  ///< part of a message that was requested (a = the receiver's id, b = offset; tag, on a
         ///< multi-rail link = its number)
  fin_ack,    ///< the receiver has read the data itself, or wants none (a = the sender's id)
  matched,    ///< a synchronous eager message met its receive (a = the sender's id)
  cancel,     ///< the sender takes an rts back (a = the sender's id)
  cancelled,  ///< the receiver had not matched the cancelled rts (a = the sender's id)
  credit,     ///< only header.credit
  bye,        ///< nothing will follow (a = good_bye), or the answer to that (a = bye_answer)
  stop_data,  ///< the receiver wants no more of the requested data (a = the sender's id, b = the
              ///< receiver's id); an empty `data` with b = size of the message answers it
  ordered,    ///< on a link of several: a whole other frame, and its number
  arrived,    ///< how many frames have come (b) on which link of several (a); with a third word of
              ///< link_given_up, none will be taken there any more
  fin,        ///< the sender has written the rest to where the cts said (a = the receiver's id)
  signal,     ///< a message of no bytes with a tag of weft's own, ahead of all others and at no
              ///< credit (a = tag, b = immediate word)

  // Access to memory. tag = the region's key; a = the asking side's id << 48 | offset in the
  // region.
  put,       ///< its payload is for there (with access_asks: no payload, b = how long it is)
  get,       ///< wants to read there (b = how much)
  update,    ///< counts or swaps the word there (b = what to add, or to store; third word = what is
             ///< expected)
  got,       ///< what was read (a = id << 48 | offset in what was wanted; no tag)
  accessed,  ///< the end of a put, a get of nothing, an update, or of anything that was refused
             ///< (a = why << 16 | id, b = the word as it was; no tag)
  granted,   ///< the link may copy by itself (a = id, b = where, packed; 0: it may not; no tag)
  released   ///< and has done so, or will not (a = id; no tag)
};

/// frame_header::flags, besides transports::has_extension.
inline constexpr std::uint8_t starved =
    0x01;  ///< the sender ran out of credit: grant more if you can
inline constexpr std::uint8_t eager_ends =
    0x02;  ///< on eager, rts, more: what was not asked for ends here

// On access to memory.
inline constexpr std::uint8_t access_ends = 0x01;      ///< on put, got: the last of its frames
inline constexpr std::uint8_t access_notifies = 0x02;  ///< on the last put: third word = the word
inline constexpr std::uint8_t access_asks = 0x04;   ///< on put, get: may the link copy by itself?
inline constexpr std::uint8_t access_swaps = 0x08;  ///< on update: if it is what was expected
inline constexpr std::uint8_t access_continues = 0x10;  ///< on put: not the first with its bytes

/// The extension's third word on arrived.
inline constexpr std::uint64_t link_given_up = 1;

/// The extension's first word on bye.
inline constexpr std::uint64_t good_bye = 0;
inline constexpr std::uint64_t bye_answer = 1;  ///< all that was sent before the good-bye has come

/// Eager credit is counted in units: what a message holds at the receiver until it is matched.
inline constexpr std::uint32_t credit_unit = 64;
constexpr std::uint32_t payload_units(std::size_t bytes) noexcept {
  return static_cast<std::uint32_t>((bytes + credit_unit - 1) / credit_unit);
}
/// The first frame costs these, too, for what its receiver keeps of any message. Pieces are
/// multiples of a unit but for the last, so a message costs the same however it is cut.
inline constexpr std::uint32_t message_units = 6;
constexpr std::uint32_t units_of(std::size_t bytes) noexcept {
  return message_units + payload_units(bytes);
}

inline constexpr std::uint64_t max_message = std::uint64_t{1} << 47;
inline constexpr std::uint64_t size_mask = (std::uint64_t{1} << 48) - 1;

/// A barrier's tags: from here on, and the step.
inline constexpr std::uint64_t first_signal_tag = std::uint64_t{0xff} << 56;

/// Signals that have not been received yet: so many of one peer are kept.
inline constexpr std::uint32_t most_signals = 4096;

/// Identifiers of operations within one peer; 0 means none.
using local_id = std::uint16_t;

/// What a link is asked to tell the end of (link::get, put): the number of a message that it reads,
/// or one of these with the number of a message that it writes, or of an access to memory.
inline constexpr std::uint64_t put_cookie_bit = 1u << 16;
inline constexpr std::uint64_t rma_cookie_bit = 1u << 17;

/// Frames in answer to a peer's that wait for room in the link to it. A correct peer has at most
/// 65535 messages that wait for an answer; of one number there may wait the `stop_data` of the
/// message that had it before, an answer to the one that has it now, and `stop_data` of that.
inline constexpr std::uint32_t most_unsent_answers = 3 * 65535;

constexpr frame_header header_of(frame_kind kind, std::uint64_t tag = 0, std::uint32_t size = 0,
                                 std::uint8_t flags = 0) noexcept {
  return {tag, size, static_cast<std::uint8_t>(kind), flags, 0};
}

}  // namespace weft::proto
