// SPDX-License-Identifier: Apache-2.0
// The properties of a transport that the protocol layer needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::transports {

/// The properties of a transport that the protocol layer needs.
struct traits {
  std::string_view name;
  std::uint32_t max_payload = 0;  ///< bytes in one frame, at most
  std::uint32_t fragment = 0;     ///< bytes in one frame, best for long messages

  /// Bytes in the first frame of a long message: small where sender and receiver copy at the same
  /// time, so that the receiver begins early.
  std::uint32_t first_piece = 8 * 1024;

  /// Messages up to this many bytes go without a handshake, if options::eager_limit says nothing:
  /// from here on, waiting for the receiver costs less than the copies of eager data.
  std::size_t eager_limit = std::size_t{64} << 10;

  /// Longer payloads that are sent without a request follow a frame of their own that announces
  /// them, so that the receiver knows where the bytes belong before they come. The announcement is
  /// empty and goes by send_large, which never returns `posted` for it; the announced frame is
  /// posted next, in the same call. 0: never.
  std::uint32_t announced_beyond = 0;

  /// How many links to one peer are possible at once, each with a frame sink of its own.
  std::uint32_t links = 1;

  /// Its offers carry descriptors: it reaches only peers on this kernel, over a Unix socket.
  bool shares_memory = false;

  /// Its wire-up messages carry other descriptors than memory files: sockets, devices. A peer that
  /// sends such ones to a context that has no transport with this trait is given up, because to
  /// close what another process has opened may block (weft closes it on a thread of its own).
  bool passes_any_descriptor = false;

  /// Frames sent after a `put` do not arrive if the put fails, so a frame that tells of the put
  /// need not wait for the put's end. If the peer has not left in good order by then,
  /// frame_sink::on_broken follows.
  bool fails_in_order = false;

  /// By default, the beginning of a long message goes with its request.
  bool prefers_eager_data = true;

  /// By default, the frame that tells of a `get` or `put` is chained to it.
  bool chains_fin = false;

  /// Whether link::prefers_get may leave the choice to measurement (preference::measured).
  bool measures_payloads = false;
};

}  // namespace weft::transports
