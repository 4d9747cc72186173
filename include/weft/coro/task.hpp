// SPDX-License-Identifier: Apache-2.0
// task<T>: a lazy coroutine with one owner.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include <weft/coro/executor.hpp>

namespace weft {

template <class T = void>
class task;

namespace detail {

/// The task that a thread is starting. A task that ends inside `co_await` (or a generator that
/// yields there) sets `gave_back`, and its parent continues without a resume. To resume the parent
/// from the child would need a tail call, and GCC makes none below -O2, so a loop over ready tasks
/// would exhaust the stack. The record lives on the stack of the thread, never in a frame: once the
/// task has suspended, another thread may resume and destroy it before this thread has returned.
struct task_start {
  const void* frame;
  task_start* outer;
  bool gave_back = false;
};
inline constinit thread_local task_start* innermost_start = nullptr;

/// The base of weft's promises: the coroutine to resume at the end, the exception, and the task
/// environment.
class promise_base {
 public:
  std::suspend_always initial_suspend() const noexcept { return {}; }

  /// Suspends this coroutine and continues the one that awaits it.
  struct give_back {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) const noexcept {
      if (innermost_start && innermost_start->frame == self.address()) {
        innermost_start->gave_back = true;
        return std::noop_coroutine();
      }
      return self.promise().continuation_;
    }
    void await_resume() const noexcept {}
  };
  give_back final_suspend() const noexcept { return {}; }

  void unhandled_exception() noexcept { failure_ = std::current_exception(); }

  task_environment* current_environment() const noexcept { return environment_; }
  void join(task_environment* c, std::coroutine_handle<> continuation) noexcept {
    environment_ = c;
    continuation_ = continuation;
  }

 protected:
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::coroutine_handle<> continuation_ = std::noop_coroutine();
  task_environment* environment_ = nullptr;
  std::exception_ptr failure_;
};

/// Runs `child` for the coroutine that awaits it. \return whether it has suspended: the caller
/// suspends, too, and touches neither the child nor its own awaiter any more
template <class Child, class Parent>
bool run_child(std::coroutine_handle<Child> child, std::coroutine_handle<Parent> caller) noexcept {
  child.promise().join(task_environment_of(caller.promise()), caller);
  task_start start{child.address(), innermost_start};
  innermost_start = &start;
  child.resume();
  innermost_start = start.outer;
  return !start.gave_back;
}

template <class T>
class task_promise : public promise_base {
 public:
  task<T> get_return_object() noexcept;
  template <class U>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T take() {
    rethrow();
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class task_promise<void> : public promise_base {
 public:
  task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void take() const { rethrow(); }
};

}  // namespace detail

/// A coroutine that has not started. `co_await` starts it, on the awaiting coroutine's thread and
/// chain, and yields its value or throws its exception. Owns its frame: the destructor of a task
/// that was never awaited frees the frame; a task in flight must not be destroyed (use a `scope`).
/// Not thread-safe; move-only.
template <class T>
class [[nodiscard]] task {
 public:
  using promise_type = detail::task_promise<T>;
  using value_type = T;

  explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
  task(task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  task& operator=(task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~task() {
    if (frame_) frame_.destroy();
  }

  struct awaiter {
    std::coroutine_handle<promise_type> frame;

    bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> caller) noexcept {
      return detail::run_child(frame, caller);
    }
    T await_resume() { return frame.promise().take(); }
  };
  awaiter operator co_await() && noexcept { return {frame_}; }

 private:
  std::coroutine_handle<promise_type> frame_;
};

template <class T>
task<T> detail::task_promise<T>::get_return_object() noexcept {
  return task<T>{std::coroutine_handle<task_promise>::from_promise(*this)};
}

inline task<void> detail::task_promise<void>::get_return_object() noexcept {
  return task<void>{std::coroutine_handle<task_promise>::from_promise(*this)};
}

}  // namespace weft
