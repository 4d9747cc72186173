// SPDX-License-Identifier: Apache-2.0
// The parts of sleeps and deadlines.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <stop_token>
#include <type_traits>

#include <weft/coro/detail/awaitable.hpp>
#include <weft/coro/detail/scheduled_continuation.hpp>
#include <weft/coro/detail/timer.hpp>

namespace weft::detail {

/// The clock of a task environment. \throws weft::error (invalid_argument) if it has none
timer_service& clock_of(const task_environment& c);

/// The point in time that is `from_now` ahead. Saturates: hours::max() gives time_point::max().
time_point due(timer_service& clock, std::chrono::nanoseconds from_now) noexcept;
inline time_point due(timer_service&, time_point t) noexcept { return t; }

/// A duration in nanoseconds, limited to the range of nanoseconds.
template <class Rep, class Period>
std::chrono::nanoseconds saturated(std::chrono::duration<Rep, Period> d) noexcept {
  using std::chrono::nanoseconds;
  using seconds = std::chrono::duration<double>;
  if (seconds(d) >= seconds(nanoseconds::max())) return nanoseconds::max();
  if (seconds(d) <= seconds(nanoseconds::min())) return nanoseconds::min();
  return std::chrono::duration_cast<nanoseconds>(d);
}

/// A timer and the wait for its end. Lives in a coroutine's frame; after `start` that coroutine
/// must await `ended` in every case before this object is destroyed. The timer completes on the
/// executor that the chain had at construction, so a timer on a pool does not wait for the thread
/// inside run().
class timer_awaiter : private timer {
 public:
  explicit timer_awaiter(const task_environment& c)
      : timer_awaiter(c, nullptr) {}  ///< \throws as clock_of

  void start(time_point at) noexcept {
    when = at;
    clock_.start(*this);
  }
  void cancel() noexcept { clock_.cancel(*this); }  ///< any thread; after start
  one_shot_event& ended() noexcept { return ended_; }
  using timer::status;  ///< after the end: ok, stopped (cancelled in time), closed, out_of_memory

 protected:
  /// Runs when the timer has ended, before the waiting coroutine continues.
  using on_end = void (*)(timer_awaiter&) noexcept;
  timer_awaiter(const task_environment& c, on_end first)
      : timer(&rang), clock_(clock_of(c)), first_(first) {
    on = c.on;
  }

 private:
  static void rang(operation& op) noexcept {
    auto& self = static_cast<timer_awaiter&>(op);
    if (self.first_) self.first_(self);
    self.ended_.open();
  }

  timer_service& clock_;
  const on_end first_;
  one_shot_event ended_;
};

/// While it lives, it replaces the chain's stop token by that of its own stop source, which the
/// former token stops, too. Owned and used by a coroutine of that chain; any thread may call
/// `stop`.
class fused_stop_source {
 public:
  explicit fused_stop_source(task_environment& c)
      : environment_(c), outer_(c.stop), link_(c.stop, relay{this}) {
    c.stop = source_.get_token();
  }
  fused_stop_source(const fused_stop_source&) = delete;
  fused_stop_source& operator=(const fused_stop_source&) = delete;
  ~fused_stop_source() { environment_.stop = std::move(outer_); }

  /// \return true if no stop was requested before, by `stop` or by the former token
  bool stop() noexcept { return source_.request_stop(); }

  /// A stop callback that passes the request on to a fused stop source.
  struct relay {
    fused_stop_source* to;
    void operator()() const noexcept { to->stop(); }
  };

 private:
  task_environment& environment_;
  std::stop_token outer_;
  std::stop_source source_;
  std::stop_callback<relay> link_;
};

/// A fused stop source that a timer stops.
class timeout_scope final : private timer_awaiter {
 public:
  explicit timeout_scope(task_environment& c)
      : timer_awaiter(c, &passed),
        environment_(c),
        outer_deadline_(c.deadline),
        stop_source_(c),
        clock_(clock_of(c)) {}
  ~timeout_scope() { environment_.deadline = outer_deadline_; }

  template <class When>
  void start(When limit) noexcept {
    if constexpr (std::is_same_v<When, std::chrono::nanoseconds>) wanted_ = limit;
    const time_point at = due(clock_, limit);
    environment_.deadline = std::min(outer_deadline_, at);
    timer_awaiter::start(at);
  }
  using timer_awaiter::cancel;
  using timer_awaiter::ended;

  /// Throws the exception of the limited operation; errc::timed_out, with that exception's text, if
  /// the deadline stopped the operation, errc::closed if the context's end did. After `ended`.
  [[noreturn]] void rethrow(std::exception_ptr failure) const;

 private:
  static void passed(timer_awaiter& a) noexcept {
    auto& self = static_cast<timeout_scope&>(a);
    if (self.status != errc::stopped) self.was_first_ = self.stop_source_.stop();
  }

  task_environment& environment_;
  const time_point outer_deadline_;
  std::chrono::nanoseconds wanted_{-1};  ///< what `within` was given; less than none: a time_point
  fused_stop_source stop_source_;
  timer_service& clock_;
  bool was_first_ = false;  ///< written by the timer's completion, published by `ended`
};

/// The value or the failure of an awaited `X`, so that the code after a failure is written once.
template <class X>
class outcome {
  using value = awaited_t<X>;
  using stored = std::conditional_t<std::is_void_v<value>, char, value>;

 public:
  std::optional<stored> got;
  std::exception_ptr failure;

  value take() {
    if constexpr (!std::is_void_v<value>) return std::move(*got);
  }
};

/// Awaits `x` with a deadline. `When` is a time_point, or a duration from the moment of the await.
template <class When, class X>
task<awaited_t<X>> limited(When when, X x) {
  task_environment& here = co_await current_environment();
  timeout_scope limit(here);
  outcome<X> out;
  limit.start(when);
  try {
    if constexpr (std::is_void_v<awaited_t<X>>) {
      co_await std::move(x);
    } else {
      awaited_t<X> value = co_await std::move(x);
      out.got.emplace(std::move(value));
    }
  } catch (...) {
    out.failure = std::current_exception();
  }
  limit.cancel();
  co_await limit.ended();
  if (out.failure) limit.rethrow(out.failure);
  co_return out.take();
}

}  // namespace weft::detail
