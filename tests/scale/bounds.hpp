// SPDX-License-Identifier: Apache-2.0
// What a collective costs at least in the model, whatever the algorithm.
#pragma once

#include <algorithm>

#include "scale/network.hpp"
#include "scale/work.hpp"

namespace scale {

/// In microseconds.
struct lower_bound {
  double latency = 0;  ///< a tree of single messages that leaves hosts as seldom as may be
  double bandwidth =
      0;            ///< the bytes that have to pass the busiest port, and one message's latency
  double both = 0;  ///< the tree, and then the bytes of its last rank
  double least() const noexcept { return std::max({latency, bandwidth, both}); }
};

/// For ranks that send one message at a time. (A rank that sends several while the first ones are
/// under way can be faster than `latency`: Karp et al. 1993.)
lower_bound bound_of(const work& w, const network& net, peer_id ranks);

}  // namespace scale
