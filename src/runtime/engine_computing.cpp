// SPDX-License-Identifier: Apache-2.0
// The caller goes to compute: who is told, and whether that is worth a ring. Progress lock held.
#include "runtime/engine.hpp"

namespace weft::runtime {

void engine::enter_computing() noexcept {
  // A caller that sleeps is rung for everything. It comes back polling and would leave the word
  // odd: peers that have rung for it would not ring again when it is away later.
  if (caller_asleep_.load(std::memory_order_relaxed)) return;
  calls_soon_ = false;
  doorbell_.arm_computing(false);
  if (!has_progress_thread_) return;
  if (!needed_while_computing()) return tell_of_timers();
  if (predictor_.predicts_long()) {
    predictor_.begin(now());
    wake_progress_ = true;
  } else if (!ticks_.load(std::memory_order_relaxed)) {
    needed_lately_ = wake_progress_ = true;
  } else {
    tell_of_timers();
  }
}

/// The caller computes or sleeps. If it computes, and the progress thread finds that out by itself
/// or is told now, that is enough; but that one may know already, and sleep.
void engine::wake_one_thread() noexcept {
  if (caller_asleep_.load(std::memory_order_relaxed))
    wake_caller_ = true;
  else if (!doorbell_.is_computing())
    enter_computing();
  else if (has_progress_thread_ && !(leads_here() && ticks_.load(std::memory_order_relaxed)))
    wake_progress_ = true;
}

}  // namespace weft::runtime
