// SPDX-License-Identifier: Apache-2.0
#include <weft/coro/time.hpp>

#include <cstddef>
#include <string>

namespace weft {

namespace detail {

timer_service& clock_of(const task_environment& c) {
  if (c.timers) return *c.timers;
  throw error(
      errc::invalid_argument,
      "this coroutine has no clock to wait with; start it with run or spawn of a context, or "
      "in a scope made inside run()");
}

time_point due(timer_service& clock, std::chrono::nanoseconds from_now) noexcept {
  const time_point now = clock.now();
  if (from_now > time_point::max() - now) return time_point::max();
  return now + from_now;
}

namespace {
/// "the deadline of 200 ms", in the largest unit in which it is a whole number.
std::string in_words(std::chrono::nanoseconds limit) {
  auto n = limit.count();
  if (n < 0) return "the deadline";
  constexpr const char* units[] = {" ns", " us", " ms", " s"};
  std::size_t unit = 0;
  for (; unit != 3 && n != 0 && n % 1000 == 0; ++unit) n /= 1000;
  return "the deadline of " + std::to_string(n) + units[unit];
}
}  // namespace

void timeout_scope::rethrow(std::exception_ptr failure) const {
  if (was_first_) {
    try {
      std::rethrow_exception(failure);
    } catch (const error& e) {
      if (e.kind() == errc::stopped) {
        if (status == errc::out_of_memory)
          throw error(errc::out_of_memory, "no memory for the timer of a deadline");
        if (status == errc::closed)
          throw error(errc::closed, "the context ended before the deadline");
        throw error(errc::timed_out, in_words(wanted_) + " passed: " + e.what());
      }
      throw;
    }
  }
  std::rethrow_exception(failure);
}

namespace {

/// Cancels an alarm when asked to stop.
struct timer_stop {
  timer_awaiter* bell;
  void operator()() const noexcept { bell->cancel(); }
};

template <class When>
task<void> sleep(When when) {
  task_environment& here = co_await current_environment();
  timer_service& clock = clock_of(here);
  timer_awaiter bell(here);
  bell.start(due(clock, when));
  {
    // After start, because a timer that has not started cannot be cancelled.
    std::stop_callback<timer_stop> on_stop(here.stop, timer_stop{&bell});
    co_await bell.ended();
  }
  if (bell.status == errc::stopped) throw error(errc::stopped, "asked to stop while sleeping");
  if (bell.status == errc::closed) throw error(errc::closed, "the context ended while sleeping");
  if (bell.status != errc::ok) throw error(bell.status, "no memory for a timer");
}

}  // namespace
}  // namespace detail

task<void> sleep_until(std::chrono::steady_clock::time_point when) { return detail::sleep(when); }
task<void> sleep_for(std::chrono::nanoseconds how_long) { return detail::sleep(how_long); }

}  // namespace weft
