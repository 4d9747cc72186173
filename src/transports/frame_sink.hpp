// SPDX-License-Identifier: Apache-2.0
// What the protocol layer offers to transports: a frame sink for each peer.
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/error.hpp>

#include "transports/frame.hpp"

namespace weft::transports {

/// The protocol layer's side of a peer: what arrives from it is told here. Called with the progress
/// lock held, from within pollable::poll, transport::drain_peer or transport::forget, and never
/// after forget. Not from
/// within link::send: whoever sends is in the middle of the peer's state.
class frame_sink {
 public:
  /// Where the payload of a frame that is about to arrive may be written, so that nobody has to
  /// copy it. Asked anew before each piece of it is read, since the receive may end in between.
  /// \param already how many bytes of the payload lie where this said before
  /// \return memory for the next ones, at most the rest of the frame, valid until the transport
  ///   returns to its caller; empty: nowhere. Then the payload goes to on_frame, or, if it was
  ///   nowhere only after some bytes, the rest of it is dropped. Once it was somewhere the frame is
  ///   the next one to be taken of what it belongs to: another one is an error.
  virtual mutable_buffer place([[maybe_unused]] const frame_header& header,
                               [[maybe_unused]] const frame_extension* extension,
                               [[maybe_unused]] std::uint32_t already) noexcept {
    return {};
  }

  /// A frame arrived, in order. `payload` (header.size bytes) is valid during the call only; null
  /// if it lies where `place` said.
  /// \param extension null unless the header says that there is one
  /// \return false: the frame makes no sense; the transport stops reading from this peer
  virtual bool on_frame(const frame_header& header, const frame_extension* extension,
                        const std::byte* payload) noexcept = 0;

  /// The size of a message that has begun to arrive and whose next frames come without any more
  /// being done here: the one that is beginning, else one whose rest was asked for. 0: none.
  virtual std::uint64_t under_way() const noexcept { return 0; }

  /// A `get` or `put` that was `posted` has ended; its memory is the caller's again. Once for each,
  /// and not after link::let_go.
  /// \param well false: it failed, and what it should have written is undefined
  virtual void on_transferred([[maybe_unused]] std::uint64_t cookie,
                              [[maybe_unused]] bool well) noexcept {}

  /// The frame that was chained to a `get` or `put` has left. on_transferred follows, before
  /// whatever the peer sends in answer.
  virtual void on_chained([[maybe_unused]] std::uint64_t cookie) noexcept {}

  /// There is room again after `busy`.
  virtual void on_writable() noexcept = 0;

  /// The peer broke the rules of the transport or died; nothing more will arrive. Ends every
  /// operation with that peer and runs their protocols, so a link that finds its peer broken while
  /// it sends answers post::failed, and the next poll tells.
  virtual void on_broken(errc why) noexcept = 0;

 protected:
  ~frame_sink() = default;
};

}  // namespace weft::transports
