// SPDX-License-Identifier: Apache-2.0
// How large messages go on once their receive has matched them.
#pragma once

#include <cstdint>

namespace weft {

/// Who moves the rest of a message that was too long to go at once. Both sides have a say: what one
/// of them does not want, or its transport cannot do, is not done, and the rest goes in frames.
enum class rendezvous_way : std::uint8_t {
  automatic,  ///< as the transport has it best
  frames,     ///< its sender, when asked for it, in pieces that the receiver copies
  read,       ///< its receiver, out of the sender's memory
  write       ///< its sender, when asked for it, into the receiver's memory
};

/// Whether the beginning of such a message goes along with its request.
enum class inline_beginning : std::uint8_t {
  automatic,  ///< as the transport has it best
  yes,        ///< as much of it as may go at once: that hides the handshake
  no          ///< the request only: each byte is moved once, by whoever moves the rest
};

}  // namespace weft
