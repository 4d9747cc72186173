// SPDX-License-Identifier: Apache-2.0
// Sleeping, deadlines and stop tokens for anything that can be awaited.
//
// All of this uses the clock of the coroutine's chain: that of the context in whose `run` or
// `spawn` it began. In a coroutine without one it throws weft::error (invalid_argument).
#pragma once

#include <chrono>
#include <stop_token>
#include <utility>

#include <weft/coro/detail/timeout.hpp>

namespace weft {

/// Awaits a moment. \throws weft::error (stopped) when the chain is asked to stop before, (closed)
/// when the context ends before
/// \param when a moment of the steady clock; one in the past ends at once
task<void> sleep_until(std::chrono::steady_clock::time_point when);

/// Awaits a time span, counted from the moment when the task is awaited.
task<void> sleep_for(std::chrono::nanoseconds how_long);

/// Gives `x` until `when`, then asks it to stop. It has ended by the time that this ends.
/// \param when a moment of the steady clock
/// \param x    a request, a task, `fly.join()` or another awaitable; taken over
/// \return what `x` yields, also when it was too late to stop it
/// \throws weft::error (timed_out) when the deadline ended it, (stopped) when a stop from outside
///         came first, (closed) when the context whose clock it is ended first; else whatever `x`
///         throws
template <detail::awaitable X>
task<awaited_t<X>> until(std::chrono::steady_clock::time_point when, X x) {
  return detail::limited(when, std::move(x));
}

/// As `until`, for a time span counted from the moment when the task is awaited.
template <class Rep, class Period, detail::awaitable X>
task<awaited_t<X>> within(std::chrono::duration<Rep, Period> how_long, X x) {
  return detail::limited(detail::saturated(how_long), std::move(x));
}

/// `x` under one more stop token, besides that of the chain.
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
