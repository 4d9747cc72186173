// SPDX-License-Identifier: Apache-2.0
#include "runtime/completion/timer_queue.hpp"

#include <new>

namespace weft::runtime {

bool timer_queue::add(detail::timer& t) noexcept {
  errc refusal = errc::closed;
  if (!closed_) try {
      heap_.push(t);
      return true;
    } catch (const std::bad_alloc&) {
      refusal = errc::out_of_memory;
    }
  ended_.push(t, refusal);
  return false;
}

void timer_queue::cancel(detail::timer& t) noexcept {
  if (heap_.remove(t)) ended_.push(t, errc::stopped);
}

void timer_queue::end_due(detail::time_point now) noexcept {
  operation_list due;
  heap_.pop_due(now, due);
  while (operation* op = due.pop()) ended_.push(*op, errc::ok);
}

void timer_queue::close() noexcept {
  closed_ = true;
  operation_list all;
  heap_.pop_due(detail::time_point::max(), all);
  while (operation* op = all.pop()) ended_.push(*op, errc::closed);
}

}  // namespace weft::runtime
