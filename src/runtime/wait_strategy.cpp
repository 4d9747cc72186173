// SPDX-License-Identifier: Apache-2.0
#include "runtime/wait_strategy.hpp"

#include <sched.h>

#include <utility>

namespace weft::runtime {

namespace {

// A yield that no thread used returns within a microsecond; a longer one means that another thread
// ran.
constexpr auto used_yield = std::chrono::microseconds{3};
// How long a yielding thread goes on before it sleeps. A yield costs others little, a sleep costs
// this thread a wake-up; an all-to-all among many ranks has gaps of this order.
constexpr auto crowded_spin = std::chrono::microseconds{2000};
// Time of spinning before a yield tries whether others want the core.
constexpr auto spin_before_yield = std::chrono::microseconds{20};
constexpr std::uint32_t quiet_yields_until_alone = 256;

}  // namespace

void wait_strategy::yield() noexcept {
  const auto before = std::chrono::steady_clock::now();
  sched_yield();
  if (std::chrono::steady_clock::now() - before > used_yield) {
    crowded_ = true;
    quiet_yields_ = 0;
  } else if (++quiet_yields_ > quiet_yields_until_alone) {
    crowded_ = settings_.crowded;
  }
}

wait_strategy::advice wait_strategy::on_empty_polls(bool others_run) noexcept {
  if (settings_.never_spin) return advice::sleep;
  const auto now = std::chrono::steady_clock::now();
  if (!std::exchange(idle_, true)) idle_since_ = now;
  waited_ = now - idle_since_;
  if (!settings_.never_sleep && waited_ > (crowded_ ? crowded_spin : settings_.spin))
    return advice::sleep;
  if (!others_run && (crowded_ || waited_ > spin_before_yield)) yield();
  return advice::look_around;
}

}  // namespace weft::runtime
