// SPDX-License-Identifier: Apache-2.0
#include "runtime/sleep/wait_policy.hpp"

#include <algorithm>
#include <utility>

namespace weft::runtime {

namespace {

using namespace std::chrono_literals;

// How long a yielding thread goes on before it sleeps. A yield costs others little, a sleep costs
// this thread a wake-up; an all-to-all among many ranks has gaps of this order.
constexpr auto crowded_spin = 2ms;
// Time of spinning before a yield tries whether others want the core.
constexpr auto spin_before_yield = 20us;
// Others want the core if they use more than one of so many yields: an interrupt, or the work of
// the kernel for a network, makes one in a hundred longer as well.
constexpr std::uint32_t yields_per_use = 16;
constexpr std::uint32_t sure_of_others = 3 * yields_per_use;
// So many unused yields make the surest thread sure that it is alone.
constexpr std::uint32_t surest_of_others = 256;

}  // namespace

wait_policy::advice wait_policy::on_empty_polls(time_point now) noexcept {
  if (settings_.never_spin) return advice::sleep;
  if (!std::exchange(idle_, true)) idle_since_ = now;
  waited_ = now - idle_since_;
  const bool dear = yields_.is_dear(now);
  const std::chrono::nanoseconds longest = !crowded() ? settings_.spin : dear ? 0ns : crowded_spin;
  if (!settings_.never_sleep && waited_ >= longest) return advice::sleep;
  // A crowded thread that never sleeps has no other way to let its peers run.
  if (dear) return settings_.crowded ? advice::yield : advice::spin;
  return crowded() || waited_ > spin_before_yield ? advice::yield : advice::spin;
}

void wait_policy::on_yield(time_point from, time_point to) noexcept {
  switch (yields_.on_yield(from, to)) {
    case yield_meter::use::slice:
      used_yields_ = 0;
      break;
    case yield_meter::use::moment:
      used_yields_ = std::min(used_yields_ + yields_per_use, surest_of_others);
      break;
    case yield_meter::use::none:
      used_yields_ -= used_yields_ != 0 ? 1 : 0;
      break;
  }
  others_wait_ = used_yields_ >= sure_of_others || (others_wait_ && used_yields_ != 0);
}

}  // namespace weft::runtime
