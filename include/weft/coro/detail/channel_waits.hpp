// SPDX-License-Identifier: Apache-2.0
// The waits of a channel's senders and receivers.
#pragma once

#include <optional>
#include <utility>

#include <weft/coro/detail/wait_awaiter.hpp>

namespace weft {

template <class T>
class channel;

namespace detail {

/// A waiter with a value: that of a sender, or the place for a receiver's. Guarded by the channel's
/// lock until the wait has ended.
template <class T>
class channel_wait : public waiter {
 public:
  using waiter::waiter;
  std::optional<T> value;
};

}  // namespace detail

/// What `co_await c.send(value)` makes.
template <class T>
class send_awaiter final : public detail::wait_awaiter<send_awaiter<T>, detail::channel_wait<T>> {
  using base = detail::wait_awaiter<send_awaiter<T>, detail::channel_wait<T>>;

 public:
  send_awaiter(channel<T>& c, T&& value) noexcept : base(c.mutex_, c.senders_), of_(c) {
    this->value.emplace(std::move(value));
  }
  bool try_now() noexcept { return of_.try_send(std::move(*this->value)); }
  bool start() noexcept { return of_.start_send(*this); }
  void await_resume() { this->finish("a channel"); }

 private:
  channel<T>& of_;
};

/// What `co_await c.receive()` makes.
template <class T>
class receive_awaiter final
    : public detail::wait_awaiter<receive_awaiter<T>, detail::channel_wait<T>> {
  using base = detail::wait_awaiter<receive_awaiter<T>, detail::channel_wait<T>>;

 public:
  explicit receive_awaiter(channel<T>& c) noexcept : base(c.mutex_, c.receivers_), of_(c) {}
  bool try_now() noexcept {
    if (std::optional<T> got = of_.try_receive()) this->value.emplace(std::move(*got));
    return this->value.has_value();
  }
  bool start() noexcept { return of_.start_receive(*this); }
  std::optional<T> await_resume() {
    this->finish("a channel");
    return std::move(this->value);
  }

 private:
  channel<T>& of_;
};

/// What `channel::send` returns: a send that has not begun. Awaited once: it owns the value.
template <class T>
class [[nodiscard]] channel_send {
 public:
  channel_send(channel<T>& c, T&& value) noexcept : of_(&c), value_(std::move(value)) {}
  send_awaiter<T> operator co_await() && noexcept {
    return send_awaiter<T>(*of_, std::move(value_));
  }

 private:
  channel<T>* of_;
  T value_;
};

/// What `channel::receive` returns.
template <class T>
using channel_receive = unstarted_wait<receive_awaiter<T>, channel<T>>;

}  // namespace weft
