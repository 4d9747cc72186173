// SPDX-License-Identifier: Apache-2.0
// The engine's timers: the active thread ends those that are due.
#include <new>

#include "runtime/engine.hpp"

namespace weft::runtime {

void engine::start(detail::timer& t) noexcept {
  const holder hold(*this);
  if (timers_closed_) return end_unposted(t, errc::closed);
  try {
    timers_.push(t);
  } catch (const std::bad_alloc&) {
    end_unposted(t, errc::out_of_memory);
    return;
  }
  if (caller_asleep_.load(std::memory_order_relaxed)) {
    if (t.when < caller_deadline_) wake_caller_ = true;
  } else if (t.on && has_progress_thread_ && !caller_polls_ &&
             t.when < progress_deadline_.load(std::memory_order_relaxed)) {
    wake_progress_ = true;
  }
}

void engine::cancel(detail::timer& t) noexcept {
  const holder hold(*this);
  if (t.place == detail::timer::not_waiting) return;
  timers_.remove(t);
  end_unposted(t, errc::stopped);
}

void engine::end_due_timers() noexcept {
  if (timers_.empty()) return;
  operation_list due;
  timers_.pop_due(now(), due);
  while (operation* op = due.pop()) end_unposted(*op, errc::ok);
}

/// From here on the progress thread ends timers; those of chains that live elsewhere wait for it.
void engine::tell_of_timers() noexcept {
  if (has_progress_thread_ && next_deadline() < progress_deadline_.load(std::memory_order_relaxed))
    wake_progress_ = true;
}

void engine::close_timers() noexcept {
  timers_closed_ = true;
  operation_list all;
  timers_.pop_due(time_point::max(), all);
  while (operation* op = all.pop()) end_unposted(*op, errc::closed);
}

}  // namespace weft::runtime
