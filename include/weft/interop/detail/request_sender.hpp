// SPDX-License-Identifier: Apache-2.0
// A request as a sender.
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include <weft/coro/detail/request.hpp>
#include <weft/interop/detail/sender_types.hpp>

namespace weft::detail {

/// The operation of a request with its receiver.
template <class R, class Receiver>
class request_state final : R::operation_type {
  using base = typename R::operation_type;

 public:
  using operation_state_concept = exec::operation_state_tag;

  request_state(const R& r, Receiver to) : base(r, &ended), receiver_(std::move(to)) {}

  void start() & noexcept {
    stop_.heed(receiver_, canceller{this});
    // If it has not ended, another thread may end and destroy it by now.
    if (base::start()) ended(*this);
  }

 private:
  struct canceller {
    request_state* of;
    void operator()() const noexcept { of->cancel(); }
  };

  static void ended(operation& op) noexcept {
    auto& self = static_cast<request_state&>(op);
    self.stop_.ignore();
    if (self.status == errc::stopped)
      exec::set_stopped(std::move(self.receiver_));
    else if (self.status != errc::ok)
      exec::set_error(std::move(self.receiver_),
                      std::make_exception_ptr(error(self.status, self.explain())));
    else if constexpr (std::is_void_v<typename R::value_type>)
      exec::set_value(std::move(self.receiver_));
    else
      exec::set_value(std::move(self.receiver_), self.take());
  }

  Receiver receiver_;
  receiver_stop<Receiver, canceller> stop_;
};

template <class R>
class request_sender : public sender_types<typename R::value_type> {
 public:
  explicit request_sender(R what) : what_(std::move(what)) {}

  template <class Receiver>
  request_state<R, std::decay_t<Receiver>> connect(Receiver&& r) const {
    return {what_, std::forward<Receiver>(r)};
  }

 private:
  R what_;
};

}  // namespace weft::detail
