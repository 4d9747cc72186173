// SPDX-License-Identifier: Apache-2.0
// eager_operation: how an RDMA device carries an eager message.
#pragma once

#include <cstdint>

namespace weft {

/// The operation by which the peers' eager messages, and all other frames, come to this process
/// over `verbs`. Each process chooses for what it receives; peers may choose otherwise. For
/// measurements (`weft-bench frames`). docs/adr/0045-written-frames.md
enum class eager_operation : std::uint8_t {
  send,  ///< a send with immediate data, into a receive that all peers share (the default)
  write  ///< an RDMA write with immediate data, into memory for this peer: half a MiB for each
};

}  // namespace weft
