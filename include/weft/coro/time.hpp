// SPDX-License-Identifier: Apache-2.0
// Sleeps, deadlines and stop tokens for any awaitable.
//
// These functions use the clock of the context that started the coroutine's chain by `run` or
// `spawn`. In a coroutine without a clock they throw weft::error (invalid_argument).
#pragma once

#include <chrono>
#include <stop_token>
#include <utility>

#include <weft/coro/detail/timeout.hpp>

namespace weft {

/// Sleeps until a point in time. \throws weft::error (stopped) when the chain is asked to stop
/// before, (closed) when the context ends before
/// \param when a time of the steady clock; if it is in the past, the sleep ends at once
task<void> sleep_until(std::chrono::steady_clock::time_point when);

/// Sleeps for a duration, counted from the moment when the task is awaited.
task<void> sleep_for(std::chrono::nanoseconds how_long);

/// Awaits `x`, and asks it to stop at `when`. `x` has ended before `until` ends.
/// \param when a time of the steady clock
/// \param x    a request, a task, `fly.join()` or another awaitable; taken over
/// \return the value of `x`, also if the stop came too late
/// \throws weft::error (timed_out) when the deadline ended `x`, (stopped) when a stop from outside
///        came first, (closed) when the context of the clock ended first; otherwise the exception
///        of `x`
template <detail::awaitable X>
task<awaited_t<X>> until(std::chrono::steady_clock::time_point when, X x) {
  return detail::limited(when, std::move(x));
}

/// As `until`, for a duration counted from the moment when the task is awaited.
template <class Rep, class Period, detail::awaitable X>
task<awaited_t<X>> within(std::chrono::duration<Rep, Period> how_long, X x) {
  return detail::limited(detail::saturated(how_long), std::move(x));
}

/// Awaits `x` with one more stop token, besides that of the chain.
/// \param stop asks `x` to end with errc::stopped
/// \param x    a request, a task, `fly.join()` or another awaitable; taken over
template <detail::awaitable X>
task<awaited_t<X>> stoppable(std::stop_token stop, X x) {
  task_environment& here = co_await current_environment();
  detail::fused_stop_source layer(here);
  std::stop_callback<detail::fused_stop_source::relay> link(
      std::move(stop), detail::fused_stop_source::relay{&layer});
  co_return co_await std::move(x);
}

}  // namespace weft
