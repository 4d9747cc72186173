// SPDX-License-Identifier: Apache-2.0
// A sender as an awaitable of weft.
#pragma once

#include <atomic>
#include <coroutine>
#include <exception>
#include <optional>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/coro/detail/scheduled_continuation.hpp>
#include <weft/interop/detail/sender_types.hpp>

namespace weft::detail {

/// The exception of set_error.
template <class Error>
std::exception_ptr exception_of(Error&& e) {
  using type = std::remove_cvref_t<Error>;
  if constexpr (std::is_same_v<type, std::exception_ptr>)
    return std::forward<Error>(e);
  else if constexpr (std::is_same_v<type, std::error_code>)
    return std::make_exception_ptr(std::system_error(e));
  else
    return std::make_exception_ptr(std::forward<Error>(e));
}

/// The coroutine that awaits a sender, and the result. \tparam Values a tuple
template <class Values>
class sender_wait {
 public:
  void set(std::coroutine_handle<> self, task_environment* c) noexcept {
    back_.set(self, c);
    if (c) stop_ = c->stop;
  }
  const chain_stop_token& stop_token() const noexcept { return stop_; }

  template <class... V>
  void succeed(V&&... v) noexcept {
    try {
      values_.emplace(std::forward<V>(v)...);
    } catch (...) {
      failure_ = std::current_exception();
    }
    ended();
  }
  template <class Error>
  void fail(Error&& e) noexcept {
    failure_ = exception_of(std::forward<Error>(e));
    ended();
  }
  void stop() noexcept { ended(); }

  /// Of the return of `start`, and of the completion: the second one goes on.
  bool is_second() noexcept { return first_came_.exchange(true, std::memory_order_acq_rel); }

  auto take() {
    if (failure_) std::rethrow_exception(failure_);
    if (!values_) throw error(errc::stopped);
    if constexpr (std::tuple_size_v<Values> == 1)
      return std::get<0>(std::move(*values_));
    else if constexpr (std::tuple_size_v<Values> > 1)
      return std::move(*values_);
  }

 private:
  void ended() noexcept {
    if (is_second()) back_.go();
  }

  scheduled_continuation back_;
  chain_stop_token stop_;
  std::optional<Values> values_;
  std::exception_ptr failure_;
  std::atomic<bool> first_came_{false};
};

template <class Values>
class sender_receiver {
 public:
  using receiver_concept = exec::receiver_tag;

  explicit sender_receiver(sender_wait<Values>& of) noexcept : of_(&of) {}

  template <class... V>
  void set_value(V&&... v) noexcept {
    of_->succeed(std::forward<V>(v)...);
  }
  template <class Error>
  void set_error(Error&& e) noexcept {
    of_->fail(std::forward<Error>(e));
  }
  void set_stopped() noexcept { of_->stop(); }
  void set_done() noexcept { of_->stop(); }  ///< libunifex

  exec::chain_env get_env() const noexcept { return exec::chain_env(of_->stop_token()); }
#ifdef WEFT_USE_UNIFEX
  friend chain_stop_token tag_invoke(unifex::tag_t<unifex::get_stop_token>,
                                     const sender_receiver& r) noexcept {
    return r.of_->stop_token();
  }
#endif

 private:
  sender_wait<Values>* of_;
};

template <class Lists>
struct only_values {
  static_assert(sizeof(Lists) == 0,
                "as_awaitable needs a sender with exactly one set_value signature");
};
template <class... V>
struct only_values<exec::values<exec::values<V...>>> {
  using type = std::tuple<std::decay_t<V>...>;
};

template <class Sender>
class [[nodiscard]] sender_awaitable {
  using values = typename only_values<exec::values_of<Sender, exec::chain_env>>::type;
  using receiver = sender_receiver<values>;
  using state = decltype(exec::connect(std::declval<Sender>(), std::declval<receiver>()));

 public:
  template <class S>
  explicit sender_awaitable(S&& what) : what_(std::forward<S>(what)) {}

  class awaiter {
   public:
    explicit awaiter(Sender& what) noexcept : what_(what) {}

    bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) {
      wait_.set(self, task_environment_of(self.promise()));
      state_.emplace(connecting{this});
      exec::start(*state_);
      return !wait_.is_second();
    }
    auto await_resume() { return wait_.take(); }

   private:
    /// Makes the state in its place: it cannot be moved.
    struct connecting {
      awaiter* who;
      operator state() const {  // NOLINT: converts on purpose
        return exec::connect(std::move(who->what_), receiver(who->wait_));
      }
    };

    Sender& what_;
    sender_wait<values> wait_;
    std::optional<state> state_;
  };
  awaiter operator co_await() && noexcept { return awaiter(what_); }

 private:
  Sender what_;
};

}  // namespace weft::detail
