// SPDX-License-Identifier: Apache-2.0
// Awaitables, and the types of their results.
#pragma once

#include <type_traits>
#include <utility>

#include <weft/coro/detail/request.hpp>
#include <weft/coro/task.hpp>

namespace weft {
namespace detail {

/// The awaiter that co_await makes of its operand: a request, a task, or another awaitable.
template <class X>
decltype(auto) awaiter_of(X&& x) {
  if constexpr (request<std::remove_cvref_t<X>>)
    return request_awaiter<std::remove_cvref_t<X>>(x);
  else if constexpr (!std::is_class_v<std::remove_cvref_t<X>>)
    // Not awaitable; clang 14 fails hard if it looks for an operator.
    return std::forward<X>(x);
  else if constexpr (requires { std::forward<X>(x).operator co_await(); })
    return std::forward<X>(x).operator co_await();
  else if constexpr (requires { operator co_await(std::forward<X>(x)); })
    return operator co_await(std::forward<X>(x));
  else
    return std::forward<X>(x);
}

template <class X>
using awaiter_t = decltype(awaiter_of(std::declval<X>()));

template <class X>
concept awaitable = requires(awaiter_t<X> a) {
  a.await_ready();
  a.await_resume();
};

}  // namespace detail

/// What `current_environment` returns: yields the task environment of the awaiting coroutine
/// without suspending it.
class environment_awaiter {
 public:
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    environment_ = task_environment_of(self.promise());
    return false;
  }
  task_environment& await_resume() const {
    if (environment_) return *environment_;
    throw error(errc::invalid_argument,
                "this coroutine belongs to no chain, so it has no clock, executor or stop token; "
                "start it with run, spawn or scope::start");
  }

 private:
  task_environment* environment_ = nullptr;
};

/// The type of `co_await x` for a request, a task or another awaitable X.
template <detail::awaitable X>
using awaited_t = decltype(std::declval<detail::awaiter_t<X>>().await_resume());

/// `task_environment& here = co_await current_environment();` gives the task environment of this
/// coroutine, for example for a `scope` with tasks that resume on the same executor, or for a new
/// awaitable. \throws weft::error (invalid_argument) in a coroutine that weft did not start
inline environment_awaiter current_environment() noexcept { return {}; }

}  // namespace weft
