// SPDX-License-Identifier: Apache-2.0
// poll_policy: the order in which transports are polled.
#pragma once

namespace weft {

/// The order in which a pass polls the transports. For measurements (`weft-bench policy`); the
/// default costs least.
enum class poll_policy {
  in_order,  ///< each once in a round, in the order of `options::transports` (the default)
  adaptive,  ///< more often the transports that had frames in the last round that found any
  toggle     ///< each once, beginning after the transport that had frames first last time
};

}  // namespace weft
