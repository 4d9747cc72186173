// SPDX-License-Identifier: Apache-2.0
// The timers of an engine.
#pragma once

#include <weft/coro/detail/timer.hpp>

#include "coro/timer_heap.hpp"
#include "runtime/completion/completion_queue.hpp"

namespace weft::runtime {

/// Ends timers into the completion queue when they are due. Owned by the engine; the thread that
/// makes progress calls end_due(). Progress lock held.
class timer_queue {
 public:
  explicit timer_queue(completion_queue& ended) noexcept : ended_(ended) {}

  /// \return false: there is no memory for it, or the queue is closed, and the timer has ended
  bool add(detail::timer& t) noexcept;
  /// Ends a waiting timer with errc::stopped.
  void cancel(detail::timer& t) noexcept;
  void end_due(detail::time_point now) noexcept;
  /// Ends all timers with errc::closed, present and later ones.
  void close() noexcept;

  bool empty() const noexcept { return heap_.empty(); }
  /// The deadline of the first timer; time_point::max(): there is none.
  detail::time_point deadline() const noexcept {
    return heap_.earliest().value_or(detail::time_point::max());
  }

 private:
  completion_queue& ended_;
  detail::timer_heap heap_;
  bool closed_ = false;
};

}  // namespace weft::runtime
