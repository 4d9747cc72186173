// SPDX-License-Identifier: Apache-2.0
// ring_read_policy: how much one poll takes out of a ring.
#pragma once

namespace weft {

/// How much a poll takes out of one peer's ring in shared memory. For incoming frames; peers may
/// choose otherwise. For measurements (`weft-bench policy`). All but the first come from the SHIBA
/// device (docs/adr/0011-reading-a-ring.md).
enum class ring_read_policy {
  burst,       ///< all frames, up to 64 (the default)
  single,      ///< one frame
  contiguous,  ///< one frame; all frames of a message that had begun before this poll
  post,      ///< as contiguous; for a message longer than the ring also after all rings were polled
  immediate  ///< as contiguous; for a message longer than the ring also when it has just begun
};

}  // namespace weft
