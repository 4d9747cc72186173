// SPDX-License-Identifier: Apache-2.0
// Where coroutines resume, and what all coroutines of one logical thread share.
#pragma once

#include <stop_token>

#include <weft/coro/operation.hpp>

namespace weft {

namespace detail {
class timer_service;
class run_loop;
}  // namespace detail

/// Runs work somewhere. Must outlive everything posted to it.
class executor {
 public:
  virtual ~executor() = default;

  /// Runs `work.complete()` once, later, on one of the executor's threads. Any thread may call;
  /// never runs the work inside the call, never throws.
  virtual void post(operation& work) noexcept = 0;

  /// True for a context's own executor, whose work runs on the thread inside run(): a chain that
  /// moves there has `task_environment::on` null again.
  virtual bool is_home() const noexcept { return false; }
};

/// A chain is one logical thread of coroutines: a task that was spawned, started in a scope or
/// passed to `run`, together with every task that it awaits. Owned by its root; the coroutines hold
/// pointers to it. Touched only by the chain's own coroutines, so it needs no lock.
struct task_environment {
  /// Where operations resume this chain. Null: the thread inside `run()` of the context that the
  /// operation belongs to. Changed by `co_await resume_on(...)`.
  executor* on = nullptr;

  /// Asked by every operation that waits. Replaced for a while by `stoppable`, `within`, `scope`.
  std::stop_token stop = {};

  /// Whose clock `within`, `until` and `sleep_for` use: the context that the chain was started in.
  detail::timer_service* timers = nullptr;

  /// What makes things end while a destructor of this chain must wait; null: nothing.
  detail::run_loop* home = nullptr;
};

namespace detail {

/// The chain of any coroutine: weft's own promises carry one, foreign promises have none.
template <class Promise>
task_environment* task_environment_of(Promise& promise) noexcept {
  if constexpr (requires { promise.current_environment(); })
    return promise.current_environment();
  else
    return nullptr;
}

}  // namespace detail
}  // namespace weft
