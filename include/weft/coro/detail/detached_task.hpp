// SPDX-License-Identifier: Apache-2.0
// detached_task: the root coroutine of a chain.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include <weft/coro/detail/awaitable.hpp>

namespace weft::detail {

/// The receiver of the end of a chain.
class detached_task_owner {
 public:
  /// Called once for each root, by the thread on which it ended, after the frame and the task
  /// environment have been destroyed. May resume other coroutines. \param failure the chain's
  /// exception, or null
  virtual void task_ended(std::exception_ptr failure) noexcept = 0;

 protected:
  ~detached_task_owner() = default;
};

/// A coroutine that no handle owns: it runs at once inside the call that makes it, owns its task
/// environment, and at the end frees itself and calls its detached_task_owner. Made by
/// `start_detached`.
class detached_task {
 public:
  class promise_type {
   public:
    template <class... Rest>
    promise_type(detached_task_owner& owner, task_environment& start, const Rest&...) noexcept
        : owner_(owner), environment_(std::move(start)) {}

    detached_task get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }

    struct final_awaiter {
      bool await_ready() const noexcept { return false; }
      /// The frame is destroyed first: it may refer to objects that the owner keeps alive.
      void await_suspend(std::coroutine_handle<promise_type> self) const noexcept {
        detached_task_owner& owner = self.promise().owner_;
        std::exception_ptr failure = std::move(self.promise().failure_);
        self.destroy();
        owner.task_ended(std::move(failure));
      }
      void await_resume() const noexcept {}
    };
    final_awaiter final_suspend() const noexcept { return {}; }

    void return_void() const noexcept {}
    void unhandled_exception() noexcept { failure_ = std::current_exception(); }
    task_environment* current_environment() noexcept { return &environment_; }

   private:
    detached_task_owner& owner_;
    task_environment environment_;
    std::exception_ptr failure_;
  };
};

/// Runs `x` as a new chain, at once, up to its first suspension.
/// \param owner called when the chain has ended; must live until then
/// \param start the initial task environment of the chain
/// \param x     a task, a request or another awaitable
/// \param use   called with the value of `x`, on the chain
/// \throws std::bad_alloc, and then the owner is not called
template <class X, class Use>
detached_task start_detached(detached_task_owner& owner, task_environment start, X x, Use use) {
  static_cast<void>(owner);  // the promise has both
  static_cast<void>(start);
  if constexpr (std::is_void_v<awaited_t<X>>) {
    co_await std::move(x);
    use();
  } else {
    // A named value: GCC 12 mixes up temporaries when co_await is an argument of a call.
    awaited_t<X> value = co_await std::move(x);
    use(std::move(value));
  }
}

}  // namespace weft::detail
