// SPDX-License-Identifier: Apache-2.0
#include <weft/coro/interval.hpp>

#include <weft/coro/time.hpp>

namespace weft {

async_generator<std::chrono::steady_clock::time_point> interval(std::chrono::nanoseconds period) {
  if (period <= std::chrono::nanoseconds::zero())
    throw error(errc::invalid_argument, "an interval needs a period that is longer than nothing");
  task_environment& first = co_await current_environment();
  auto tick = detail::clock_of(first).now();
  for (;;) {
    // Each time: the consumer may be another chain.
    task_environment& here = co_await current_environment();
    const auto passed = detail::clock_of(here).now() - tick;
    const auto step = period * (passed / period + 1);
    tick = step > detail::time_point::max() - tick ? detail::time_point::max() : tick + step;
    co_await sleep_until(tick);
    co_yield tick;
  }
}

}  // namespace weft
