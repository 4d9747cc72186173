// SPDX-License-Identifier: Apache-2.0
// A task as a sender.
#pragma once

#include <exception>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <weft/coro/time.hpp>
#include <weft/interop/detail/sender_types.hpp>
#include <weft/run.hpp>

namespace weft::detail {

template <class T, class State>
task<void> run_for_receiver(State& state, task<T> what) {
  std::exception_ptr failure;
  std::optional<std::conditional_t<std::is_void_v<T>, char, T>> value;
  try {
    if constexpr (std::is_void_v<T>) {
      co_await stoppable(state.stop_token(), std::move(what));
    } else {
      T result = co_await stoppable(state.stop_token(), std::move(what));
      value.emplace(std::move(result));
    }
  } catch (...) {
    failure = std::current_exception();
  }
  // The receiver may destroy the state.
  if (failure)
    state.fail(failure);
  else if constexpr (std::is_void_v<T>)
    state.succeed();
  else
    state.succeed(std::move(*value));
}

template <class T, class Receiver>
class task_state {
 public:
  using operation_state_concept = exec::operation_state_tag;

  task_state(context& home, task<T> what, Receiver r)
      : home_(home), what_(std::move(what)), receiver_(std::move(r)) {}
  task_state(const task_state&) = delete;
  task_state& operator=(const task_state&) = delete;

  void start() & noexcept {
    stop_.heed(receiver_, stopper{&source_});
    try {
      spawn(home_, run_for_receiver<T>(*this, std::move(what_)));
    } catch (...) {  // no memory
      fail(std::current_exception());
    }
  }

  std::stop_token stop_token() const noexcept { return source_.get_token(); }
  void fail(const std::exception_ptr& why) noexcept {
    stop_.ignore();
    complete_with_failure(std::move(receiver_), why);
  }
  template <class... Value>
  void succeed(Value&&... v) noexcept {
    stop_.ignore();
    exec::set_value(std::move(receiver_), std::forward<Value>(v)...);
  }

 private:
  struct stopper {
    std::stop_source* of;
    void operator()() const noexcept { of->request_stop(); }
  };

  context& home_;
  task<T> what_;
  Receiver receiver_;
  std::stop_source source_;
  receiver_stop<Receiver, stopper> stop_;
};

template <class T>
class task_sender : public sender_types<T> {
 public:
  task_sender(context& home, task<T> what) noexcept : home_(&home), what_(std::move(what)) {}

  template <class Receiver>
  task_state<T, std::decay_t<Receiver>> connect(Receiver&& r) && {
    return {*home_, std::move(what_), std::forward<Receiver>(r)};
  }

 private:
  context* home_;
  task<T> what_;
};

}  // namespace weft::detail
