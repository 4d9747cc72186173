// SPDX-License-Identifier: Apache-2.0
// Executors, and the task environment of a chain of coroutines.
#pragma once

#include <chrono>
#include <stop_token>

#include <weft/coro/operation.hpp>

namespace weft {

namespace detail {
class timer_service;
class run_loop;
}  // namespace detail

/// Runs work on its threads. Must outlive all work posted to it.
class executor {
 public:
  virtual ~executor() = default;

  /// Runs `work.complete()` once, later, on one of the executor's threads. Any thread may call;
  /// never runs the work inside the call, never throws.
  virtual void post(operation& work) noexcept = 0;

  /// True for a context's own executor, which runs work on the thread inside run(). After a chain
  /// has moved there, its `task_environment::on` is null again.
  virtual bool is_home() const noexcept { return false; }
};

/// A chain is one logical thread of coroutines: a task that was spawned, started in a scope or
/// passed to `run`, together with every task that it awaits. The task environment belongs to the
/// chain's root; the coroutines hold pointers to it. Only the chain's coroutines touch it, so it
/// needs no lock.
struct task_environment {
  /// The executor on which operations resume this chain. Null: the thread inside `run()` of the
  /// operation's context. Changed by `co_await resume_on(...)`.
  executor* on = nullptr;

  /// The stop token of every operation that waits. `stoppable`, `within` and `scope` replace it for
  /// a while.
  std::stop_token stop = {};

  /// The clock of `within`, `until` and `sleep_for`: that of the context that started the chain.
  detail::timer_service* timers = nullptr;

  /// The run loop that ends operations while a destructor of this chain must wait; null: none.
  detail::run_loop* home = nullptr;

  /// When `within` or `until` stop this chain; max(): there is no deadline. Only for operations
  /// that tell it to a peer: what ends the chain is the stop token.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

namespace detail {

/// The task environment of any coroutine. Only weft's promises have one; others give null.
template <class Promise>
task_environment* task_environment_of(Promise& promise) noexcept {
  if constexpr (requires { promise.current_environment(); })
    return promise.current_environment();
  else
    return nullptr;
}

}  // namespace detail
}  // namespace weft
