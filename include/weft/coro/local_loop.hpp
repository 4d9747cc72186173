// SPDX-License-Identifier: Apache-2.0
// Coroutines without a context.
#pragma once

#include <memory>
#include <utility>

#include <weft/coro/detail/awaited_task.hpp>
#include <weft/coro/task.hpp>

namespace weft {

/// A run loop for coroutines without messages. It is the home of the chains that `run` starts, and
/// has the steady clock for `sleep_for` and `within`. The thread inside `run` sleeps while there is
/// no work; a second thread that calls `run` waits until the first one leaves. Coroutines may move
/// to a `pool`, and back by `resume_on(loop.home())`.
///
///     weft::local_loop loop;
///     int n = weft::run(loop, count_words(file));   // weft::task<int> count_words(...)
class local_loop {
 public:
  /// \throws std::bad_alloc
  local_loop();
  local_loop(const local_loop&) = delete;
  local_loop& operator=(const local_loop&) = delete;
  ~local_loop();  ///< outside of `run`, after all chains of this loop have ended

  /// The executor of the thread inside `run`. Any thread.
  executor& home() noexcept;

 private:
  template <detail::awaitable X>
  friend awaited_t<X> run(local_loop& on, X x);
  class impl;
  detail::home parts() noexcept;

  std::unique_ptr<impl> impl_;
};

/// Runs a task, or another awaitable, to its end on this thread, together with every chain of this
/// loop: `run(loop, when_all(a(), b()))`. Not from within a coroutine.
/// \return what `x` yields
/// \throws what `x` throws
template <detail::awaitable X>
awaited_t<X> run(local_loop& on, X x) {
  return detail::awaited_task<X>(on.parts(), std::move(x)).wait();
}

/// The same, by the name that it has in std::execution.
template <detail::awaitable X>
awaited_t<X> sync_wait(local_loop& on, X x) {
  return run(on, std::move(x));
}

}  // namespace weft
