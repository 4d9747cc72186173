// SPDX-License-Identifier: Apache-2.0
// Settings of the rendezvous protocol.
#pragma once

#include <cstdint>

namespace weft {

/// The payload scheme of a rendezvous. Both sides choose: if one of them, or its transport, does
/// not support the scheme, the payload goes in frames.
enum class rendezvous_scheme : std::uint8_t {
  automatic,  ///< as the transport has it best
  frames,     ///< the sender sends it in frames after a CTS; the receiver copies
  get,        ///< the receiver reads it from the sender's memory
  put         ///< the sender writes it to the receiver's memory after a CTS
};

/// Whether a rendezvous has eager data: whether the message's first bytes travel with the RTS.
enum class rendezvous_eager_data : std::uint8_t {
  automatic,  ///< as the transport has it best
  yes,        ///< up to the eager limit: that hides the handshake
  no          ///< the RTS only: each byte is moved once, by the side that moves the payload
};

/// Whether the frame after a get or put (`fin_ack`, `fin`) is chained to the copy, so that the
/// transport sends it when the last byte has been moved.
enum class chained_fin : std::uint8_t {
  automatic,  ///< as the transport has it best
  yes,        ///< where the transport can do that
  no          ///< this side sends it after it has learnt of the end
};

/// How this side learns of the end of its own copy, over `qdma`. For the repetition of an
/// experiment (docs/adr/0023-chained-fin.md, `weft-bench rdma`).
enum class copy_completion : std::uint8_t {
  direct,     ///< from the side that copied, at once (the default)
  one_queue,  ///< by a small message in the queue of the peers' messages
  two_queues  ///< by a small message in a queue of its own
};

}  // namespace weft
