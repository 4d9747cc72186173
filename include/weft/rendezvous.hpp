// SPDX-License-Identifier: Apache-2.0
// How large messages go on once their receive has matched them.
#pragma once

#include <cstdint>

namespace weft {

/// Who moves the rest of a message that was too long to go at once. Both sides have a say: what one
/// of them does not want, or its transport cannot do, is not done, and the rest goes in frames.
enum class rendezvous_scheme : std::uint8_t {
  automatic,  ///< as the transport has it best
  frames,     ///< its sender, when asked for it, in pieces that the receiver copies
  read,       ///< its receiver, out of the sender's memory
  write       ///< its sender, when asked for it, into the receiver's memory
};

/// Whether the beginning of such a message goes along with its request.
enum class rendezvous_eager_data : std::uint8_t {
  automatic,  ///< as the transport has it best
  yes,        ///< as much of it as may go at once: that hides the handshake
  no          ///< the request only: each byte is moved once, by the side that moves the rest
};

/// Whether what tells the peer that a rest was read or written (`fin_ack`, `fin`) is chained to the
/// copy, so that it leaves by itself when the last byte has been moved.
enum class chained_fin : std::uint8_t {
  automatic,  ///< as the transport has it best
  yes,        ///< where the transport can do that
  no          ///< it is sent when this side has learnt of the end
};

/// How this side learns that a copy of its own has ended, over `qdma`. Of use to repeat an
/// experiment (docs/adr/0023-chained-fin.md, `weft-bench rdma`).
enum class copy_completion : std::uint8_t {
  direct,     ///< from the side that copied, at once (the default)
  one_queue,  ///< by a small message to the queue in which the peers' messages are
  two_queues  ///< by one to a queue that has nothing else
};

}  // namespace weft
