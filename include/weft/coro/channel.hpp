// SPDX-License-Identifier: Apache-2.0
// channel<T>: a bounded queue between coroutines.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include <weft/coro/detail/channel_waits.hpp>
#include <weft/coro/detail/value_ring.hpp>

namespace weft {

/// A queue of values with a limit: `send` waits while it is full, `receive` while it is empty. Many
/// senders and many receivers may use it, of several contexts and pools; each resumes on its own
/// chain's executor. First come, first served on both sides, and the values keep their order. With
/// capacity 0 every value is handed from a sender to a receiver (rendezvous). All members are for
/// any thread, coroutine or not. Memory is allocated by the constructor only.
///
/// The destructor closes the channel and destroys the values in it. No other call may be under way
/// then, but coroutines may wait.
///
///     weft::channel<job> jobs(64);
///     co_await jobs.send(std::move(next));                    // some coroutines
///     while (std::optional<job> j = co_await jobs.receive())  // others; ends after close()
///       work_on(*j);
///
/// \tparam T the type of the values; its moves do not throw
template <class T>
class channel {
  static_assert(std::is_object_v<T> && std::is_nothrow_move_constructible_v<T>,
                "a channel moves values between coroutines and must not lose one: the move "
                "constructor of T has to be noexcept; send a std::unique_ptr<T> otherwise");

 public:
  using value_type = T;

  /// \param capacity how many values it holds at most. \throws std::bad_alloc
  explicit channel(std::size_t capacity) : values_(capacity) {}
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  ~channel() {
    close();
    std::unique_lock lock(mutex_);
    senders_.await_stopping(lock);
    receivers_.await_stopping(lock);
  }

  /// `co_await c.send(value)` ends when the value is in the channel, or with its receiver.
  /// \param value taken over; destroyed if the send fails
  /// \throws weft::error closed, stopped (the chain's stop token); then it was not sent
  channel_send<T> send(T value) noexcept { return channel_send<T>(*this, std::move(value)); }

  /// Sends if that needs no wait. \param value moved away only if it was sent
  /// \return false: the channel is full or closed
  bool try_send(T&& value) noexcept {
    detail::ended_waits ended;
    const std::lock_guard lock(mutex_);
    return put(value, ended);
  }

  /// `co_await c.receive()` yields the oldest value as a std::optional, without a value if the
  /// channel is closed and empty. A receive that was stopped has taken no value; a value that came
  /// at the last moment is kept, and the receive ends well. Under `when_any` a value that came too
  /// late to be the first is lost.
  /// \throws weft::error stopped (the chain's stop token)
  channel_receive<T> receive() noexcept { return channel_receive<T>(*this); }

  /// The oldest value, if there is one now. Also takes it from a sender that waits.
  std::optional<T> try_receive() noexcept {
    detail::ended_waits ended;
    std::optional<T> value;
    const std::lock_guard lock(mutex_);
    take(value, ended);
    return value;
  }

  /// Ends the flow: waiting sends and all later ones end with errc::closed. The values in the
  /// channel can still be received; after them, and for receives that wait, comes the end.
  void close() noexcept {
    detail::ended_waits ended;
    const std::lock_guard lock(mutex_);
    closed_ = true;
    ended.add_all(senders_, errc::closed);
    ended.add_all(receivers_);
  }

  bool is_closed() const noexcept {
    const std::lock_guard lock(mutex_);
    return closed_;
  }

  /// The number of values in it, without those of waiting senders.
  std::size_t size() const noexcept {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }
  std::size_t capacity() const noexcept { return values_.capacity(); }

 private:
  friend class send_awaiter<T>;
  friend class receive_awaiter<T>;
  using wait = detail::channel_wait<T>;

  // With the lock held. A receiver waits only while no value is here; a sender only while there is
  // no room.

  bool put(T& value, detail::ended_waits& ended) noexcept {
    if (closed_) return false;
    auto* const receiver = static_cast<wait*>(receivers_.claim_first());
    if (!receiver) return values_.push(value);
    receiver->value.emplace(std::move(value));
    ended.add(*receiver);
    return true;
  }

  bool take(std::optional<T>& to, detail::ended_waits& ended) noexcept {
    values_.pop(to);
    if (auto* const sender = static_cast<wait*>(senders_.claim_first())) {
      if (to)
        values_.push(*sender->value);
      else
        to.emplace(std::move(*sender->value));
      ended.add(*sender);
    }
    return to.has_value();
  }

  bool start_send(wait& w) noexcept {
    detail::ended_waits ended;
    const std::lock_guard lock(mutex_);
    if (put(*w.value, ended)) return false;
    if (!closed_) return w.enter();
    w.status = errc::closed;
    return false;
  }

  bool start_receive(wait& w) noexcept {
    detail::ended_waits ended;
    const std::lock_guard lock(mutex_);
    return !take(w.value, ended) && !closed_ && w.enter();
  }

  mutable std::mutex mutex_;
  detail::value_ring<T> values_;
  bool closed_ = false;
  detail::waiter_list senders_;
  detail::waiter_list receivers_;
};

}  // namespace weft
