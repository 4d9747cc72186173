// SPDX-License-Identifier: Apache-2.0
// with_retry: begins an operation anew after errors that may pass.
#pragma once

#include <chrono>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <weft/coro/as_result.hpp>
#include <weft/coro/detail/retries.hpp>
#include <weft/coro/time.hpp>
#include <weft/error.hpp>

namespace weft {

/// Whether an error may pass by itself: peer_lost, closed, unreachable, timed_out (a deadline
/// within one attempt), and out_of_memory (also a budget or a number of calls that is used up). Not
/// refused: that is also the answer of a handler that failed.
bool is_transient(const error& e) noexcept;

/// As is_transient, and refused. For `context::connect`: the listener may not be there yet.
bool is_transient_or_refused(const error& e) noexcept;

/// When with_retry begins anew. A value.
struct retry_policy {
  unsigned attempts = 5;                                      ///< at most; 0 counts as 1
  std::chrono::nanoseconds total = std::chrono::seconds(30);  ///< for all attempts and pauses
  /// The pause behind the first attempt is between 0 and this, chosen at random (full jitter), so
  /// that clients of one server do not return together. The bound doubles with each attempt.
  std::chrono::nanoseconds first_pause = std::chrono::milliseconds(50);
  std::chrono::nanoseconds longest_pause = std::chrono::seconds(5);  ///< the bound ends there
  /// Whether to begin anew after this error; a lambda without captures will do. Not asked for
  /// errc::stopped, which ends all attempts.
  bool (*retriable)(const error&) = is_transient;
  std::uint64_t seed = 0;  ///< of the pauses; 0: another one each time
};

/// Awaits what `f` returns; after an error that may pass, waits and calls `f` again. `f` must be
/// something that may happen twice: an attempt that failed may have been served.
///
///     endpoint there = co_await with_retry({.retriable = is_transient_or_refused},
///                                          [&] { return ctx.connect(address); });
///
/// Obeys the stop token and the deadline of its chain, as `within(1s, with_retry(...))`, and uses
/// the clock of the chain, as `within` does.
/// \param policy see there. An attempt that is under way when `total` has passed is stopped
/// \param f      returns a task, a request, or another awaitable; lives until the end, so that a
///        lambda may capture and may be a coroutine
/// \return the value of the attempt that ends well
/// \throws weft::error  the last error, with its kind; if there was more than one attempt, its text
///         says how many, and in which time. stopped, likewise. Other exceptions of `f` end it at
///         once
template <class F>
task<awaited_t<std::invoke_result_t<F&>>> with_retry(retry_policy policy, F f) {
  using value = awaited_t<std::invoke_result_t<F&>>;
  const task_environment& here = co_await current_environment();
  detail::retries tries(policy, detail::clock_of(here));
  for (;;) {
    task<value> attempt = until(tries.end(), f());
    result<value> outcome = co_await as_result(std::move(attempt));
    if (outcome) {
      if constexpr (std::is_void_v<value>)
        co_return;
      else
        co_return std::move(outcome).value();
    }
    const std::chrono::nanoseconds pause = tries.pause_after(outcome.failure());
    const result<void> slept = co_await as_result(sleep_for(pause));
    if (!slept) tries.give_up(slept.code());
  }
}

}  // namespace weft
