// SPDX-License-Identifier: Apache-2.0
// What sets one transport apart from another, for the protocol layer.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::transports {

/// What the protocol layer needs to know of a transport.
struct traits {
  std::string_view name;
  std::uint32_t max_payload = 0;  ///< bytes in one frame, at most
  std::uint32_t fragment = 0;     ///< bytes in one frame, best for long messages

  /// Bytes in the first frame of a long message: small where sender and receiver copy at the same
  /// time, so that the receiver begins early.
  std::uint32_t first_piece = 8 * 1024;

  /// What goes without being asked for and is longer follows a frame of its own that announces it:
  /// its receiver knows then where the bytes belong before they come. The announcement is empty and
  /// goes by send_large, which never answers `posted` to it; what it announces is posted next, in
  /// the same call. 0: never.
  std::uint32_t announced_beyond = 0;

  /// How many links to one peer are to be had at once, each with a frame sink of its own.
  std::uint32_t links = 1;

  /// Its offers carry descriptors: only peers on this kernel, whom a Unix socket reaches, can be
  /// had.
  bool shares_memory = false;

  /// What is sent after a `put` does not arrive if the put fails: so what tells of the put need not
  /// wait for its end. If the peer has not left in good order by then, frame_sink::on_broken
  /// follows.
  bool fails_in_order = false;

  /// The beginning of a long message had better go with its request, where nobody says otherwise.
  bool prefers_eager_data = true;

  /// What tells of a `get` or `put` had better be chained to it, where nobody says otherwise.
  bool chains_fin = false;
};

}  // namespace weft::transports
