// SPDX-License-Identifier: Apache-2.0
// async_generator<T>: a coroutine that awaits and yields values.
#pragma once

#include <coroutine>
#include <optional>
#include <type_traits>
#include <utility>

#include <weft/coro/task.hpp>

namespace weft {

template <class T>
class async_generator;

namespace detail {

template <class T>
class generator_promise : public promise_base {
 public:
  async_generator<T> get_return_object() noexcept;

  /// The value lives in the promise, not in the coroutine's expression: the consumer may move from
  /// it.
  give_back yield_value(const T& value) {
    value_.emplace(value);
    return {};
  }
  give_back yield_value(T&& value) {
    value_.emplace(std::move(value));
    return {};
  }
  void return_void() const noexcept {}

  void drop() noexcept { value_.reset(); }
  T* current() {
    rethrow();
    return value_ ? &*value_ : nullptr;
  }

 private:
  std::optional<T> value_;
};

}  // namespace detail

/// What `async_generator::next` returns; await it before the next one.
template <class T>
class next_awaiter {
  using frame = std::coroutine_handle<detail::generator_promise<T>>;

 public:
  explicit next_awaiter(frame f) noexcept : frame_(f) {}

  /// Whether the generator has ended.
  bool await_ready() const noexcept {
    if (!frame_) return true;
    frame_.promise().drop();
    return frame_.done();
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> caller) noexcept {
    return detail::run_child(frame_, caller);
  }
  T* await_resume() const { return frame_ ? frame_.promise().current() : nullptr; }

 private:
  frame frame_;
};

/// A coroutine that yields values one by one by `co_yield`, and may `co_await` in between. It runs
/// only inside `co_await gen.next()`, as a part of the awaiting chain: on its executor, with its
/// stop token (so `within(1s, gen.next())` works), and what it throws, `next` throws.
///
///     weft::async_generator<order> orders(weft::endpoint shop) {
///       for (;;) {
///         order next;
///         const weft::received got = co_await shop.recv(next.bytes(), weft::tag{1});
///         if (got.size == 0) co_return;
///         co_yield std::move(next);
///       }
///     }
///
///     weft::async_generator<order> from_shop = orders(shop);
///     while (order* o = co_await from_shop.next()) handle(*o);
///
/// With g++ 12 give the generator and each yielded value a name, as here: it destroys temporaries
/// in such expressions at wrong times. The condition must be this declaration and nothing else.
///
/// Owns its frame. A generator that is destroyed early runs the destructors of its locals, as if
/// its last `co_yield` had thrown; cleanup that must `co_await` belongs to the consumer. Do not
/// destroy it inside `next`. If a scope, or a reference from `current_environment`, lives across a
/// `co_yield`, one chain must consume all values. Not thread-safe; move-only.
///
/// \tparam T the type of the values, without reference or const
template <class T>
class [[nodiscard]] async_generator {
  static_assert(std::is_object_v<T> && !std::is_const_v<T>,
                "an async_generator yields values; yield pointers for references");

 public:
  using promise_type = detail::generator_promise<T>;
  using value_type = T;

  explicit async_generator(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
  async_generator(async_generator&& other) noexcept
      : frame_(std::exchange(other.frame_, nullptr)) {}
  async_generator& operator=(async_generator&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~async_generator() {
    if (frame_) frame_.destroy();
  }

  /// `T* v = co_await gen.next()` runs the generator up to its next value.
  /// \return the value, which the caller may change and move from, valid until the next call of
  ///         `next` or the end of the generator; null after the last one
  /// \throws what the generator throws; then again in each later call
  next_awaiter<T> next() noexcept { return next_awaiter<T>(frame_); }

 private:
  std::coroutine_handle<promise_type> frame_;
};

template <class T>
async_generator<T> detail::generator_promise<T>::get_return_object() noexcept {
  return async_generator<T>(std::coroutine_handle<generator_promise>::from_promise(*this));
}

}  // namespace weft
