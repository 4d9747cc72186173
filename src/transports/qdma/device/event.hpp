// SPDX-License-Identifier: Apache-2.0
// Counted events: how many completions have arrived, and which chains start when they are enough.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <weft/qdma.hpp>

#include "transports/qdma/wire.hpp"

namespace weft::transports::qdma {

using chain_steps = std::shared_ptr<const std::vector<weft::qdma::descriptor>>;

/// One event. Owned by the device; progress lock held only, so that counting and arming never run
/// at the same time. The counts of arrived and of wanted completions are two numbers: arming adds
/// to the one and takes nothing from the other, so a completion between a trigger and the next
/// arming is not lost, as it is where one count is set anew. Model: tests/models/qdma_event.pml.
struct counted_event {
  std::uint32_t generation = 0;
  bool open = false;
  std::uint64_t arrived = 0;
  std::uint64_t wanted = 0;    ///< 0: not armed
  std::uint64_t again = 0;     ///< armed for that many at each trigger
  std::uint64_t triggers = 0;  ///< that no operation has waited for yet
  std::uint32_t hops = 0;      ///< of the longest way to the next trigger
  errc failed = errc::ok;      ///< of the first completion that failed
  std::string why;
  errc untold = errc::ok;  ///< of a trigger that no operation has waited for yet
  std::string untold_why;
  std::vector<chain_steps> chains;
  std::vector<vpid> depends_on;
  std::deque<weft::qdma::trigger_operation*> waiting;

  void arm(std::uint64_t n) noexcept { wanted += n; }

  /// Whether it triggers now; if so, it counts for the next trigger from now on.
  bool take_trigger() noexcept {
    if (wanted == 0 || arrived < wanted) return false;
    arrived -= wanted;
    wanted = again;
    return true;
  }
};

}  // namespace weft::transports::qdma
