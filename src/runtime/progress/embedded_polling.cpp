// SPDX-License-Identifier: Apache-2.0
#include "runtime/progress/embedded_polling.hpp"

#include <weft/error.hpp>

#include "runtime/os/exit_gate.hpp"

namespace weft::runtime {

void embedded_polling::begin(wake_up wake) {
  exit_gate::expect_exit();
  const progress_core::holder hold(core_);
  if (is_on() || !leadership_.try_take())
    throw error(
        errc::invalid_argument,
        "this context is inside run(), in an embedded loop or driven by calls already; it can "
        "be one of them");
  try {
    core_.sleep_in_epoll();
  } catch (...) {
    leadership_.resign();
    throw;
  }
  {
    const std::lock_guard lock(mutex_);
    wake_ = wake;
  }
  core_.caller.embedded = true;
  leadership_.resign();
}

void embedded_polling::end() noexcept {
  {
    const std::lock_guard lock(mutex_);
    wake_ = {};
  }
  // If a thread is inside run(), it has disarmed the doorbell, and may have armed it for itself.
  const bool leads = leadership_.try_take();
  {
    const progress_core::holder hold(core_);
    core_.caller.embedded = false;
    if (leads && core_.caller.is_asleep()) gate_.poll_and_disarm_caller();
  }
  if (leads) leadership_.resign();
}

embedded_polling::next embedded_polling::turn(time_point until, bool others_wait,
                                              time_point& deadline) noexcept {
  if (!leadership_.try_take()) return next::elsewhere;
  if (core_.caller.is_asleep()) {
    give_way();
    loop_.begin_again();
  }
  const std::optional<time_point> at_most = loop_.turn(until, others_wait);
  if (at_most) {
    deadline = *at_most;
    slept_.began = core_.now();
  }
  leadership_.resign();
  return at_most ? next::sleep : next::turn;
}

void embedded_polling::give_way() noexcept {
  const progress_core::holder hold(core_);
  if (!core_.caller.is_asleep()) return;
  slept_.told = core_.caller_reactor->poll();
  slept_.ended = core_.now();
  core_.counters.add(slept_);
  core_.trace.slice(trace::kind::caller_sleeps, slept_.began, slept_.ended, slept_.told);
  gate_.disarm_caller(slept_.told != 0);
}

void embedded_polling::come_back() noexcept {
  const std::lock_guard lock(mutex_);
  if (wake_.call) wake_.call(wake_.argument);
}

}  // namespace weft::runtime
