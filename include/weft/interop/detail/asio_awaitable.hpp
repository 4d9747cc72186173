// SPDX-License-Identifier: Apache-2.0
// An operation of Asio as an awaitable of weft.
#pragma once

#include <atomic>
#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/coro/detail/scheduled_continuation.hpp>
#include <weft/error.hpp>
#include <weft/interop/detail/asio_stop.hpp>

namespace weft::detail {

/// The awaiting coroutine, as a handler of Asio sees it.
template <class Arguments>
class asio_awaiter_base {
 public:
  asio_awaiter_base() = default;
  asio_awaiter_base(const asio_awaiter_base&) = delete;
  asio_awaiter_base& operator=(const asio_awaiter_base&) = delete;

  template <class... Args>
  void finished(Args&&... args) noexcept {
    try {
      arguments_.emplace(std::forward<Args>(args)...);
    } catch (...) {
      failure_ = std::current_exception();
    }
    arrived();
  }
  /// The handler is destroyed without a call.
  void abandoned() noexcept { arrived(); }

 protected:
  ~asio_awaiter_base() {
    if (stop_) stop_->ignore();
  }

  /// Of the coroutine after the initiating function, and of the end: the second one goes on.
  bool is_second() noexcept { return first_came_.exchange(true, std::memory_order_acq_rel); }

  std::optional<Arguments> arguments_;
  std::exception_ptr failure_;
  std::shared_ptr<asio_stop> stop_;  ///< null: the chain cannot be stopped
  scheduled_continuation back_;

 private:
  void arrived() noexcept {
    if (stop_) stop_->over();
    if (is_second()) back_.go();
  }

  std::atomic<bool> first_came_{false};
};

/// The completion handler. The one that is called or destroyed last, if it was moved, ends the
/// wait.
template <class Awaiter>
class use_task_handler {
 public:
  using cancellation_slot_type = net::cancellation_slot;

  use_task_handler(Awaiter& of, net::cancellation_slot slot) noexcept : of_(&of), slot_(slot) {}
  use_task_handler(use_task_handler&& other) noexcept
      : of_(std::exchange(other.of_, nullptr)), slot_(other.slot_) {}
  use_task_handler& operator=(use_task_handler&&) = delete;
  ~use_task_handler() {
    if (of_) of_->abandoned();
  }

  template <class... Args>
  void operator()(Args&&... args) noexcept {
    std::exchange(of_, nullptr)->finished(std::forward<Args>(args)...);
  }
  cancellation_slot_type get_cancellation_slot() const noexcept { return slot_; }

 private:
  Awaiter* of_;
  net::cancellation_slot slot_;
};

template <class Arguments>
struct first_argument {
  using type = void;
};
template <class First, class... Rest>
struct first_argument<std::tuple<First, Rest...>> {
  using type = First;
};
template <class Arguments>
using first_argument_t = typename first_argument<Arguments>::type;

/// Of a tuple of arguments: nothing, the only one, or all.
template <class... T>
auto unpacked(std::tuple<T...>&& all) {
  if constexpr (sizeof...(T) == 1)
    return std::get<0>(std::move(all));
  else if constexpr (sizeof...(T) > 1)
    return std::move(all);
}

/// Throws what the first argument stands for. \return the others, unpacked
template <class First, class... Rest>
auto without_error(std::tuple<First, Rest...>&& all) {
  if constexpr (std::is_same_v<First, net_error_code>) {
    if (std::get<0>(all)) throw net_system_error(std::get<0>(all));
  } else if constexpr (std::is_same_v<First, std::exception_ptr>) {
    if (std::get<0>(all)) std::rethrow_exception(std::get<0>(all));
  } else {
    return unpacked(std::move(all));
  }
  if constexpr (std::is_same_v<First, net_error_code> || std::is_same_v<First, std::exception_ptr>)
    return std::apply(
        [](First&, Rest&... rest) { return unpacked(std::tuple<Rest...>(std::move(rest)...)); },
        all);
}
inline void without_error(std::tuple<>&&) noexcept {}

/// What use_task makes of an operation. Awaited once.
/// \tparam Arguments a tuple of the handler's arguments
template <bool AsTuple, class Arguments, class Initiation, class... InitArgs>
class [[nodiscard]] asio_awaitable {
 public:
  template <class I, class... A>
  explicit asio_awaitable(I&& initiation, A&&... args)
      : initiation_(std::forward<I>(initiation)), args_(std::forward<A>(args)...) {}

  class awaiter final : public asio_awaiter_base<Arguments> {
   public:
    explicit awaiter(asio_awaitable& what) noexcept : what_(what) {}

    bool await_ready() const noexcept { return false; }

    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) {
      task_environment* const c = task_environment_of(self.promise());
      this->back_.set(self, c);
      // The awaiter may be gone when the initiating function has returned, but for is_second().
      std::shared_ptr<asio_stop> stop;
      if (c && c->stop.stop_possible()) {
        stop = make_asio_stop(what_.initiation_);
        stop->heed(stop, c->stop);
        this->stop_ = stop;
      }
      use_task_handler<awaiter> handler(*this, stop ? stop->slot() : net::cancellation_slot());
      std::apply(
          [&](InitArgs&... args) {
            std::move(what_.initiation_)(std::move(handler), std::move(args)...);
          },
          what_.args_);
      if (stop) stop->initiated();
      return !this->is_second();
    }

    auto await_resume() {
      if (this->stop_) this->stop_->ignore();
      if (this->failure_) std::rethrow_exception(this->failure_);
      if constexpr (AsTuple) {
        if (!this->arguments_) abandoned_as_tuple();
        return std::move(*this->arguments_);
      } else {
        if (!this->arguments_) throw_abandoned();
        return without_error(std::move(*this->arguments_));
      }
    }

   private:
    static constexpr bool has_error_code =
        std::is_same_v<first_argument_t<Arguments>, net_error_code>;

    /// The handler was destroyed without a call.
    [[noreturn]] static void throw_abandoned() {
      if constexpr (has_error_code)
        throw net_system_error(net_error_code(net::error::operation_aborted));
      else
        throw error(errc::closed,
                    "the io_context of this operation ended before the operation did");
    }
    void abandoned_as_tuple() {
      if constexpr (has_error_code && std::is_default_constructible_v<Arguments>)
        std::get<0>(this->arguments_.emplace()) = net::error::operation_aborted;
      else
        throw_abandoned();
    }

    asio_awaitable& what_;
  };

  awaiter operator co_await() && noexcept { return awaiter(*this); }

 private:
  Initiation initiation_;
  std::tuple<InitArgs...> args_;
};

}  // namespace weft::detail
