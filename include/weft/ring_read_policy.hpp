// SPDX-License-Identifier: Apache-2.0
// ring_read_policy: how much one poll takes out of a ring.
#pragma once

namespace weft {

/// How much a thread that polls takes out of one peer's ring in shared memory before it looks
/// elsewhere. For what arrives here; the peers may choose otherwise. Of use to measure (`weft-bench
/// policy`). All but the first are of the SHIBA device (docs/adr/0011-reading-a-ring.md).
enum class ring_read_policy {
  burst,       ///< what is there, up to 64 frames (the default)
  single,      ///< one frame
  contiguous,  ///< one frame; all that is there of a message, if it had begun before this look
  post,  ///< as contiguous; of a message longer than the ring also when all rings were looked at
  immediate  ///< as contiguous; of a message longer than the ring also when it has just begun
};

}  // namespace weft
