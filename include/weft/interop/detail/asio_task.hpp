// SPDX-License-Identifier: Apache-2.0
// A task with a handler of Asio.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/coro/time.hpp>
#include <weft/interop/detail/asio_end.hpp>
#include <weft/run.hpp>

namespace weft::detail {

/// Waits for the end of a task. Owned by the coroutine that runs it, then by the handler's
/// executor.
template <class T, class Handler>
class asio_chain final {
 public:
  using handler_type = Handler;

  explicit asio_chain(Handler&& h) : handler(std::move(h)) {
    handler.on_cancellation([this] { stop_.request_stop(); });
  }

  std::stop_token stop_token() const noexcept { return stop_.get_token(); }
  void fail(std::exception_ptr why) noexcept { failure_ = std::move(why); }
  template <class... Value>
  void succeed(Value&&... v) {
    value_.emplace(std::forward<Value>(v)...);
  }

  auto take_result() {
    if constexpr (std::is_void_v<T>)
      return std::tuple(std::move(failure_));
    else
      return std::tuple<std::exception_ptr, T>(std::move(failure_),
                                               value_ ? std::move(*value_) : T{});
  }

  asio_handler<Handler> handler;

 private:
  std::stop_source stop_;
  std::optional<std::conditional_t<std::is_void_v<T>, std::tuple<>, T>> value_;
  std::exception_ptr failure_;
};

template <class T, class Handler>
task<void> run_for_asio(asio_owner<asio_chain<T, Handler>> state, task<T> what) {
  try {
    if constexpr (std::is_void_v<T>) {
      co_await stoppable(state->stop_token(), std::move(what));
      state->succeed();
    } else {
      T value = co_await stoppable(state->stop_token(), std::move(what));
      state->succeed(std::move(value));
    }
  } catch (...) {
    state->fail(std::current_exception());
  }
  dispatch_end(std::move(state));
}

/// The initiating function of `async(context, task, token)`.
class initiate_task {
 public:
  explicit initiate_task(context& home) noexcept : home_(&home) {}

  template <class Handler, class T>
  void operator()(Handler&& h, task<T> what) const {
    using state = asio_chain<T, std::decay_t<Handler>>;
    spawn(*home_, run_for_asio(asio_owner<state>::make(std::forward<Handler>(h)), std::move(what)));
  }

 private:
  context* home_;
};

}  // namespace weft::detail
