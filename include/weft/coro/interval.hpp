// SPDX-License-Identifier: Apache-2.0
// interval: ticks at a fixed rate.
#pragma once

#include <chrono>

#include <weft/coro/async_generator.hpp>

namespace weft {

/// Yields the points in time `period`, 2 `period` and so on after its first `next`, each when it
/// has come. It does not drift: a late tick does not delay the later ones. Ticks that passed while
/// the consumer was busy are skipped.
///
///     weft::async_generator<std::chrono::steady_clock::time_point> ticks = weft::interval(10ms);
///     while (auto* at = co_await ticks.next()) report(*at);
///
/// Yields for ever; `next` throws weft::error: stopped, closed as `sleep_until`; invalid_argument
/// for a period that is not positive, or in a coroutine without a clock.
/// \param period must be positive
async_generator<std::chrono::steady_clock::time_point> interval(std::chrono::nanoseconds period);

}  // namespace weft
