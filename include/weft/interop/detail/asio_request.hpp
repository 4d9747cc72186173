// SPDX-License-Identifier: Apache-2.0
// A request with a handler of Asio.
#pragma once

#include <atomic>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/coro/detail/request.hpp>
#include <weft/coro/detail/run_loop.hpp>
#include <weft/interop/detail/asio_end.hpp>

namespace weft::detail {

/// The operation of a request. Owns itself while it is in flight. The handler may be called after
/// the context has ended, so the operation is asked for its result when it ends, and not cancelled
/// afterwards.
template <class R, class Handler>
class asio_operation final : public R::operation_type {
  using base = typename R::operation_type;

 public:
  using handler_type = Handler;
  using value_type = typename R::value_type;

  asio_operation(Handler&& h, const R& r) : base(r, &ended), handler(std::move(h)) {
    handler.on_cancellation([this] {
      if (!over_.load(std::memory_order_acquire)) this->cancel();
    });
  }

  static void start(asio_owner<asio_operation> state) noexcept {
    asio_operation& self = *state.release();
    if (!self.base::start()) return;
    // It has ended already, but its handler must not be called in here. Inside a loop of weft the
    // next pass is the nearest time.
    run_loop* const loop = run_loop::here();
    if (executor* const home = loop ? loop->home() : nullptr) return home->post(self);
    self.settle();
    net::post(self.handler.where(), asio_end<asio_operation>(asio_owner<asio_operation>(&self)));
  }

  auto take_result() { return std::move(result_); }

  asio_handler<Handler> handler;

 private:
  static void ended(operation& op) noexcept {
    auto& self = static_cast<asio_operation&>(op);
    self.settle();
    dispatch_end(asio_owner<asio_operation>(&self));
  }

  void settle() noexcept {
    over_.store(true, std::memory_order_release);
    if (this->status != errc::ok)
      std::get<0>(result_) = std::make_exception_ptr(error(this->status, this->explain()));
    else if constexpr (!std::is_void_v<value_type>)
      std::get<1>(result_) = this->take();
  }

  std::atomic<bool> over_{false};
  typename async_arguments_of<value_type>::type result_{};
};

/// The initiating function of `async(request, token)`.
struct initiate_request {
  template <class Handler, class R>
  void operator()(Handler&& h, R what) const {
    using state = asio_operation<R, std::decay_t<Handler>>;
    state::start(asio_owner<state>::make(std::forward<Handler>(h), what));
  }
};

}  // namespace weft::detail
