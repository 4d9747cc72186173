// SPDX-License-Identifier: Apache-2.0
// The end of an operation of weft that has a handler of Asio.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/interop/detail/asio_library.hpp>

namespace weft::detail {

template <class T>
struct async_signature_of {
  using type = void(std::exception_ptr, T);
};
template <>
struct async_signature_of<void> {
  using type = void(std::exception_ptr);
};

/// The arguments of such a handler.
template <class T>
struct async_arguments_of {
  using type = std::tuple<std::exception_ptr, T>;
};
template <>
struct async_arguments_of<void> {
  using type = std::tuple<std::exception_ptr>;
};

/// A handler and what Asio associates with it, while an operation is in flight. The member
/// `handler` of the state of an operation, which is allocated by the handler's allocator. No base:
/// its names would meet those of the operation, another base of the state.
template <class Handler>
class asio_handler {
 public:
  using executor = net::associated_executor_t<Handler>;
  using slot = net::associated_cancellation_slot_t<Handler>;

  explicit asio_handler(Handler&& h)
      : handler_(std::move(h)),
        work_(net::get_associated_executor(handler_)),
        slot_(net::get_associated_cancellation_slot(handler_)) {}

  /// \param stop called for each cancellation, on the handler's executor. Before the start
  template <class Stop>
  void on_cancellation(Stop stop) {
    if (slot_.is_connected())
      slot_.assign([stop](net::cancellation_type type) {
        if (type != net::cancellation_type::none) stop();
      });
  }

  const Handler& get() const noexcept { return handler_; }
  executor where() const noexcept { return work_.get_executor(); }

  /// On the handler's executor, after the end. \return the handler and its work, so that the memory
  /// can be freed before the handler is called
  std::pair<Handler, net::executor_work_guard<executor>> release() {
    if (slot_.is_connected()) slot_.clear();
    return {std::move(handler_), std::move(work_)};
  }

 private:
  Handler handler_;
  net::executor_work_guard<executor> work_;
  slot slot_;
};

/// Owns a state; allocated by the allocator of the state's handler.
template <class State>
class asio_owner {
 public:
  template <class... Args>
  static asio_owner make(typename State::handler_type h, Args&&... args) {
    allocator_type from(net::get_associated_allocator(h));
    State* const place = std::allocator_traits<allocator_type>::allocate(from, 1);
    try {
      return asio_owner(new (place) State(std::move(h), std::forward<Args>(args)...));
    } catch (...) {
      std::allocator_traits<allocator_type>::deallocate(from, place, 1);
      throw;
    }
  }
  explicit asio_owner(State* of) noexcept : state_(of) {}
  asio_owner(asio_owner&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  asio_owner& operator=(asio_owner&&) = delete;
  ~asio_owner() { reset(); }

  State* operator->() const noexcept { return state_; }
  State* release() noexcept { return std::exchange(state_, nullptr); }
  void reset() noexcept {
    State* const gone = std::exchange(state_, nullptr);
    if (!gone) return;
    allocator_type to(net::get_associated_allocator(gone->handler.get()));
    gone->~State();
    std::allocator_traits<allocator_type>::deallocate(to, gone, 1);
  }

 private:
  using allocator_type = typename std::allocator_traits<
      net::associated_allocator_t<typename State::handler_type>>::template rebind_alloc<State>;

  State* state_;
};

/// Runs on the handler's executor: frees the state, then calls the handler.
template <class State>
class asio_end {
 public:
  using allocator_type = net::associated_allocator_t<typename State::handler_type>;

  explicit asio_end(asio_owner<State> of) noexcept
      : allocator_(net::get_associated_allocator(of->handler.get())), state_(std::move(of)) {}
  allocator_type get_allocator() const noexcept { return allocator_; }

  void operator()() {
    auto result = state_->take_result();
    auto [handler, work] = state_->handler.release();
    state_.reset();
    std::apply(std::move(handler), std::move(result));
  }

 private:
  allocator_type allocator_;
  asio_owner<State> state_;
};

/// Calls the handler of an ended operation: on this thread, if that belongs to the handler's
/// executor. An exception of the handler leaves the function that runs the executor, as if Asio had
/// called the handler: not the loop of weft, which called this.
template <class State>
void dispatch_end(asio_owner<State> state) noexcept {
  auto where = state->handler.where();
  // An io_context that another thread runs may end with this handler, but not before this thread
  // has left it.
  const auto inside = net::make_work_guard(where);
  try {
    net::dispatch(where, asio_end<State>(std::move(state)));
  } catch (...) {
    net::post(where, [failure = std::current_exception()] { std::rethrow_exception(failure); });
  }
}

}  // namespace weft::detail
