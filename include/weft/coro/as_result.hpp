// SPDX-License-Identifier: Apache-2.0
// co_await as_result(x): errors of weft as values.
#pragma once

#include <type_traits>

#include <weft/coro/detail/awaitable.hpp>

namespace weft {

/// What `as_result` returns.
template <class X>
class result_awaitable {
  using value = awaited_t<X>;

 public:
  // A constructor and not an aggregate: GCC 12 destroys members of aggregate temporaries in a
  // co_await expression twice.
  explicit result_awaitable(X x) : x_(std::move(x)) {}

  class awaiter {
   public:
    explicit awaiter(X& x) : inner_(detail::awaiter_of(std::move(x))) {}

    bool await_ready() { return inner_.await_ready(); }
    template <class Promise>
    auto await_suspend(std::coroutine_handle<Promise> self) {
      return inner_.await_suspend(self);
    }

    result<value> await_resume() {
      if constexpr (detail::request<X>) {
        return inner_.resume_as_result();
      } else {
        try {
          if constexpr (std::is_void_v<value>) {
            inner_.await_resume();
            return {};
          } else {
            return inner_.await_resume();
          }
        } catch (const error& e) {
          return e;
        }
      }
    }

   private:
    detail::awaiter_t<X> inner_;
  };
  awaiter operator co_await() && { return awaiter(x_); }

 private:
  X x_;
};

/// Awaits `x` and yields a `result` instead of throwing `weft::error`. Other exceptions, which come
/// from the application's own code, still propagate.
/// \param x a request, a task, or another awaitable; taken over
template <class X>
  requires detail::awaitable<X>
result_awaitable<X> as_result(X x) {
  return result_awaitable<X>(std::move(x));
}

}  // namespace weft
