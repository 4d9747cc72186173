// SPDX-License-Identifier: Apache-2.0
// The frames that the protocols exchange. docs/wire-format.md, "Protocol", has the byte tables.
#pragma once

#include <cstdint>

#include <weft/transport/transport.hpp>

namespace weft::proto {

using transports::frame_extension;
using transports::frame_header;
using transports::remote_address;

/// frame_header::kind. `eager` or `rts` begins a *message*; its next frames that follow directly
/// are `more`; at most one message per link and direction is in that state.
enum class frame_kind : std::uint8_t {
  eager = 1,  ///< a message: whole without an extension, or if a is the frame's payload; else its
              ///< beginning, which may be empty (a = size, b = id if the sender wants `matched`,
              ///< else 0)
  more,       ///< continues the message begun last on this link
  rts,   ///< request to send: begins a message whose rest waits for an answer (a = id << 48 | size,
         ///< b = where the data can be read, packed; 0: no place)
  cts,   ///< clear to send (a = the sender's id, b = the receiver's id; with a third word: where
         ///< the message may be written instead, packed)
  data,  ///< part of a message that was requested (a = the receiver's id, b = offset; tag, on a
         ///< multi-rail link = its number)
  fin_ack,    ///< the receiver has read the data itself, or wants none (a = the sender's id)
  matched,    ///< a synchronous eager message met its receive (a = the sender's id)
  cancel,     ///< the sender takes a message back (a = the sender's id)
  cancelled,  ///< the receiver had not matched the cancelled message (a = the sender's id)
  credit,     ///< only header.credit
  bye,        ///< nothing will follow (a = good_bye), or the answer to that (a = bye_answer)
  stop_data,  ///< the receiver wants no more of the requested data (a = the sender's id, b = the
              ///< receiver's id); an empty `data` with b = size of the message answers it
  ordered,    ///< on a multi-rail link: a whole other frame (tag = its number)
  arrived,  ///< how many frames have come (b) on which rail of a multi-rail link (a); with a third
            ///< word of link_given_up, no more will be taken on it
  fin,      ///< the sender has written the rest to the place in the cts (a = the receiver's id)
  signal,  ///< a message of no bytes with a reserved tag, ahead of all others and without credit (a
           ///< = tag, b = immediate word)

  // Access to memory. tag = the region's key; a = the initiator's id << 48 | offset in the region.
  put,     ///< its payload is for that place (with access_asks: no payload, b = its length)
  get,     ///< requests a read there (b = how many bytes)
  update,  ///< adds to or swaps the word there (b = the addend, or the new value; third word = the
           ///< expected value)
  got,     ///< the bytes that were read (a = id << 48 | offset in the requested bytes; no tag)
  accessed,  ///< the end of a put, a get of no bytes, an update, or any refused access (a = why <<
             ///< 16 | id; b = the former word; no tag)
  granted,   ///< the link may copy by itself (a = id, b = the place, packed; 0: it may not; no tag)
  released,  ///< the link has copied, or will not (a = id; no tag)

  call_stop,  ///< the caller does not wait for a reply any more (a = the call's number)
  call_more   ///< the caller of a stream takes items_in_grant more values (a = the call's number)
};

/// frame_header::flags, besides transports::has_extension.
inline constexpr std::uint8_t starved =
    0x01;  ///< on rts: the sender runs out of credit: return it, and grant more if possible
inline constexpr std::uint8_t eager_ends =
    0x02;  ///< on eager, rts, more: the part that was not requested ends here

inline constexpr std::uint8_t lends =
    0x04;  ///< on rts: the receiver may keep the data where it can be read, unchanged, as long as
           ///< it holds the fin_ack back

// On access to memory.
inline constexpr std::uint8_t access_ends = 0x01;      ///< on put, got: the last of its frames
inline constexpr std::uint8_t access_notifies = 0x02;  ///< on the last put: third word = the word
inline constexpr std::uint8_t access_asks = 0x04;  ///< on put, get: may the link copy by itself?
inline constexpr std::uint8_t access_swaps =
    0x08;  ///< on update: stores only if the word is the expected one
inline constexpr std::uint8_t access_continues =
    0x10;  ///< on put: other frames of its bytes came before

/// The extension's third word on arrived.
inline constexpr std::uint64_t link_given_up = 1;

/// The extension's first word on bye.
inline constexpr std::uint64_t good_bye = 0;
inline constexpr std::uint64_t bye_answer =
    1;  ///< all that was sent before the good-bye has arrived

/// Eager credit is counted in units: the memory of a message at the receiver until it is matched.
inline constexpr std::uint32_t credit_unit = 64;
constexpr std::uint32_t payload_units(std::size_t bytes) noexcept {
  return static_cast<std::uint32_t>((bytes + credit_unit - 1) / credit_unit);
}
/// The first frame costs these, too, for the state that its receiver keeps of any message. Pieces
/// are multiples of a unit except the last, so a message costs the same however it is cut.
inline constexpr std::uint32_t message_units = 6;
constexpr std::uint32_t units_of(std::size_t bytes) noexcept {
  return message_units + payload_units(bytes);
}

/// Units that only an answer to the peer may use (send_mode::answer): one message's, without
/// payload.
inline constexpr std::uint32_t answer_units = message_units;

/// The most units that one peer is granted: 64 MiB.
inline constexpr std::uint32_t largest_window = 1u << 20;

inline constexpr std::uint64_t max_message = std::uint64_t{1} << 47;
inline constexpr std::uint64_t size_mask = (std::uint64_t{1} << 48) - 1;

/// The first tag of signals: those of barriers and of revocations (group_table.hpp).
inline constexpr std::uint64_t first_signal_tag = std::uint64_t{0xff} << 56;

/// How many signals of one peer are kept until they are received.
inline constexpr std::uint32_t most_signals = 4096;

/// The longest first piece of a list that goes with the request: a header, which may tell the
/// receiver where the rest belongs.
inline constexpr std::size_t longest_head = 4096;

/// Identifiers of operations within one peer; 0 means none.
using local_id = std::uint16_t;

/// The number of the operation that a link reports the end of (link::get, put): that of a message
/// that is read, or one of these bits with that of a message that is written, or of an access to
/// memory.
inline constexpr std::uint64_t put_cookie_bit = 1u << 16;
inline constexpr std::uint64_t rma_cookie_bit = 1u << 17;

/// Limit of answers to a peer's frames that wait for room in the link. A correct peer has at most
/// 65535 messages that wait for an answer; for each number there can wait the `stop_data` of its
/// former message, an answer to its present message, and the `stop_data` of that.
inline constexpr std::uint32_t most_unsent_answers = 3 * 65535;

constexpr frame_header header_of(frame_kind kind, std::uint64_t tag = 0, std::uint32_t size = 0,
                                 std::uint8_t flags = 0) noexcept {
  return {tag, size, static_cast<std::uint8_t>(kind), flags, 0};
}

}  // namespace weft::proto
