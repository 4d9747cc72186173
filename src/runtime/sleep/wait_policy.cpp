// SPDX-License-Identifier: Apache-2.0
#include "runtime/sleep/wait_policy.hpp"

#include <utility>

namespace weft::runtime {

namespace {

using namespace std::chrono_literals;

// How long a yielding thread goes on before it sleeps. A yield costs others little, a sleep costs
// this thread a wake-up; an all-to-all among many ranks has gaps of this order.
constexpr auto crowded_spin = 2ms;
// Time of spinning before a yield tries whether others want the core.
constexpr auto spin_before_yield = 20us;
constexpr std::uint32_t unused_yields_until_alone = 256;

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
      others_wait_ = false;
      unused_yields_ = 0;
      break;
    case yield_meter::use::moment:
      others_wait_ = true;
      unused_yields_ = 0;
      break;
    case yield_meter::use::none:
      if (++unused_yields_ > unused_yields_until_alone) others_wait_ = false;
      break;
  }
}

}  // namespace weft::runtime
