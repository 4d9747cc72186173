// SPDX-License-Identifier: Apache-2.0
// ring_stores: how a payload is written into a ring.
#pragma once

#include <cstddef>

namespace weft {

/// Which stores write the pieces of longer messages into a ring in shared memory. For outgoing
/// frames; peers may choose otherwise. For measurements (`weft-bench kinds`).
/// docs/adr/0042-transfer-kinds.md
enum class ring_stores {
  automatic,  ///< the default: ordinary, since which one is faster depends on the machine;
              ///< `weft-bench kinds --propose` measures it
  ordinary,   ///< memcpy: the lines stay in this core's cache until the receiver takes them
  streaming   ///< past the cache to memory, for pieces of options::experiments::streamed_from and
              ///< more; ordinary ones on processors without such stores (all but x86-64)
};

/// The smallest options::experiments::streamed_from: behind each streamed piece the sender waits
/// until its stores have left the core.
inline constexpr std::size_t smallest_streamed_from = 4096;

}  // namespace weft
