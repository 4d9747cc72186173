// SPDX-License-Identifier: Apache-2.0
// The interface of the protocol layer to transports: a frame sink for each peer.
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/error.hpp>
#include <weft/transport/frame.hpp>
#include <weft/transport/unique_fd.hpp>

namespace weft::transports {

/// The protocol layer's side of a peer: takes what the transport receives from the peer. Called
/// with the progress lock held, from within pollable::poll, transport::drain_peer or
/// transport::forget, `on_broken` also from within transport::note, and never after forget. Not
/// called from within link::send, because the sending code is in the middle of changing the peer's
/// state.
class frame_sink {
 public:
  /// Where the payload of a frame that is about to arrive may be written, so that it need not be
  /// copied. The transport asks again before it reads each piece, since the receive may end in
  /// between.
  /// \param header    of the frame; \p size bytes of payload follow
  /// \param extension null unless the header says that there is one
  /// \param already   how many bytes of the payload were written where an earlier call said
  /// \return memory for the next bytes, at most the rest of the frame, valid until the transport
  ///   returns to its caller; empty: no place. Then the payload goes to on_frame; if some bytes had
  ///   a place and the later ones have none, the rest of the payload is dropped. After a call that
  ///   returned memory this frame must be the next one of its message: another frame is an error.
  virtual mutable_buffer place([[maybe_unused]] const frame_header& header,
                               [[maybe_unused]] const frame_extension* extension,
                               [[maybe_unused]] std::uint32_t already) noexcept {
    return {};
  }

  /// A frame arrived, in order. What the parameters point to is valid during the call only.
  /// \param header    any bytes that the peer may have sent: checked here, but for its size
  /// \param extension null unless the header says that there is one
  /// \param payload   header.size bytes; null if they were written where `place` said
  /// \return false: the frame makes no sense; the transport stops reading from this peer
  virtual bool on_frame(const frame_header& header, const frame_extension* extension,
                        const std::byte* payload) noexcept = 0;

  /// The size of a message that has begun to arrive and whose next frames come without another call
  /// of this side: the message that is beginning, else one whose rest was requested. 0: none.
  virtual std::uint64_t under_way() const noexcept { return 0; }

  /// A `get` or `put` that was `posted` has ended; its memory is the caller's again. Called once
  /// for each, and not after link::let_go.
  /// \param cookie as `get` or `put` got it
  /// \param well   false: it failed, and what it should have written is undefined
  virtual void on_transferred([[maybe_unused]] std::uint64_t cookie,
                              [[maybe_unused]] bool well) noexcept {}

  /// The frame that was chained to a `get` or `put` has left. on_transferred follows, before any
  /// answer of the peer.
  virtual void on_chained([[maybe_unused]] std::uint64_t cookie) noexcept {}

  /// The peer has passed a descriptor (link::pass). Called from within transport::note.
  /// \param file any descriptor: checked here
  /// \param what as the peer said
  virtual void on_descriptor([[maybe_unused]] unique_fd file,
                             [[maybe_unused]] std::uint32_t what) noexcept {}

  /// There is room again after `busy`.
  virtual void on_writable() noexcept = 0;

  /// The peer broke the rules of the transport or died; nothing more will arrive. This call ends
  /// every operation with that peer and runs their protocols. So a link that finds its peer broken
  /// while it sends returns post::failed, and the next poll calls this.
  virtual void on_broken(errc why) noexcept = 0;

 protected:
  ~frame_sink() = default;
};

}  // namespace weft::transports
