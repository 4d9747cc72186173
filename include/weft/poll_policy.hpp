// SPDX-License-Identifier: Apache-2.0
// poll_policy: the order in which transports are polled.
#pragma once

namespace weft {

/// How a thread that polls shares its looks among transports. Of use to measure (`weft-bench
/// policy`); the default has the least to do.
enum class poll_policy {
  in_order,  ///< each once in every round, in the order of `options::transports` (the default)
  adaptive,  ///< more often those that brought something in the last round that brought anything
  toggle     ///< each once, and first those that were not the first to bring something last time
};

}  // namespace weft
