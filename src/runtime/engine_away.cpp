// SPDX-License-Identifier: Apache-2.0
// The caller goes to compute: who is told, and whether that is worth a ring. Baton held.
#include <algorithm>
#include <utility>

#include "runtime/engine.hpp"

namespace weft::runtime {

namespace {
// An absence that is over so soon was not worth a ring, which costs so much of the caller's core.
constexpr std::chrono::nanoseconds short_absence = std::chrono::microseconds{20};
constexpr std::chrono::nanoseconds cost_of_ring = std::chrono::microseconds{5};
// What rings in vain may cost, of the time of absences that were long, and in a row.
constexpr int share_for_vain_rings = 64;
constexpr std::chrono::nanoseconds most_for_vain_rings = 64 * cost_of_ring;
}  // namespace

void engine::go_away() noexcept {
  // A caller that sleeps is rung for everything. It comes back polling and would leave the word
  // odd: peers that have rung for it would not ring again when it is away later.
  if (caller_asleep_.load(std::memory_order_relaxed)) return;
  calls_soon_ = false;
  door_.arm_away(false);
  if (!has_progress_thread_) return;
  if (!needed_in_absence()) return tell_of_timers();
  if (long_absences_.load(std::memory_order_relaxed)) {
    foreseen_since_ = now();
    wake_progress_ = true;
  } else if (!ticks_.load(std::memory_order_relaxed)) {
    needed_lately_ = wake_progress_ = true;
  } else {
    tell_of_timers();
  }
}

/// The caller is back. Long absences pay for rings in absences that were foreseen to be long, and
/// were not: so little that an application that computes does not feel it.
void engine::judge_absence() noexcept {
  const std::chrono::nanoseconds away = now() - std::exchange(foreseen_since_, time_point{});
  if (away > short_absence)
    for_vain_rings_ = std::min(for_vain_rings_ + away / share_for_vain_rings, most_for_vain_rings);
  else if ((for_vain_rings_ = std::max(for_vain_rings_ - cost_of_ring, {})) < cost_of_ring)
    long_absences_.store(false, std::memory_order_relaxed);
}

/// The caller computes or sleeps. If it computes, and the progress thread finds that out by itself
/// or is told now, that is enough; but that one may know already, and sleep.
void engine::wake_somebody() noexcept {
  if (caller_asleep_.load(std::memory_order_relaxed))
    wake_caller_ = true;
  else if (!door_.is_away())
    go_away();
  else if (has_progress_thread_ && !(leads_here() && ticks_.load(std::memory_order_relaxed)))
    wake_progress_ = true;
}

}  // namespace weft::runtime
