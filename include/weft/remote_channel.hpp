// SPDX-License-Identifier: Apache-2.0
// remote_sender<T>, remote_receiver<T>: a bounded queue between coroutines of two processes.
//
//     remote_sender<job> jobs(ctx, worker, 7, 64);            // in one process
//     co_await jobs.send(std::move(next));
//     jobs.close();
//     co_await jobs.closed();
//
//     remote_receiver<job> jobs(ctx, master, 7, 64);          // in the other one
//     while (std::optional<job> j = co_await jobs.receive())  // ends after close()
//       work_on(*j);
//
// The members are those of channel<T>, at the end that has a use for them. Both ends name the same
// number, which is that of a stream (weft/stream.hpp) between the two peers, the same type, and the
// same capacity. They are made in any order, at any time. T is a type that endpoint::send_value can
// send, and its moves do not throw.
//
// The capacity bounds the values that the receiver has not taken, wherever they are. The receiver
// tells the sender what it has taken when half of the capacity is free again.
//
// Errors, besides those of channel<T>:
//   closed            this end, or the other one, was closed
//   peer_lost         the peer died, or its context ended. The receiver gets the values that have
//                     come before
//   protocol_error    the peer sends another type
//   invalid_argument  the capacities differ (of `send` and `sender::closed`); this end was moved
//                     from, or never made
// An exception of wire<T>::put ends the channel: `send` throws it.
//
// All members are for any thread, and any number of coroutines of any context and pool, except
// construction, assignment and destruction. The values move while a thread is inside `run` of the
// context that was named. An end must not outlive that context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <weft/detail/remote_channel_ends.hpp>
#include <weft/endpoint.hpp>
#include <weft/error.hpp>
#include <weft/run.hpp>

namespace weft {

/// The end that sends. The destructor closes it: the receiver still gets the values, if this
/// context lives until `closed` would end.
template <class T>
class remote_sender {
 public:
  using value_type = T;

  remote_sender() = default;  ///< no channel

  /// \param ctx  the context, or lane, that the endpoint belongs to
  /// \param peer the process of the receiver
  /// \param number of the channel and of its stream
  /// \param capacity how many values the receiver may have to take, 1 or more
  /// \throws weft::error (invalid_argument) when this number is open already; std::bad_alloc
  remote_sender(context& ctx, const endpoint& peer, std::uint32_t number, std::size_t capacity)
      : state_(std::make_shared<detail::sending_end<T>>(peer, number, capacity)) {
    spawn(ctx, detail::move_out(state_));
  }
  remote_sender(remote_sender&&) noexcept = default;
  remote_sender& operator=(remote_sender&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~remote_sender() { close(); }

  /// Ends when the value is in the channel. \param value taken over; destroyed if the send fails
  /// \throws weft::error  closed, peer_lost, and others of the channel, see above: it was not sent,
  ///         and neither were those before it which the receiver has not got; stopped: it was not
  ///         sent
  task<void> send(T value) { return detail::send_to(named(), std::move(value)); }

  /// Sends if there is room now. \param value moved away only if it was sent
  /// \return false: the channel is full or closed
  bool try_send(T&& value) noexcept {
    return state_ && state_->room.try_acquire() && state_->put(std::move(value));
  }

  /// Waiting sends and all later ones end with errc::closed. The receiver gets the values that are
  /// in the channel, and then the end. Never blocks.
  void close() noexcept {
    if (state_) state_->close();
  }
  /// Whether it was closed, by either side, or has failed.
  bool is_closed() const noexcept { return !state_ || state_->values.is_closed(); }

  /// After `close`: ends when all values have come to the receiver. Then the number is free again.
  /// \throws weft::error  closed: the receiver was closed before; stopped; others, see above
  task<void> closed() { return detail::wait_for_end<T>(named()); }

  std::size_t capacity() const noexcept { return state_ ? state_->values.capacity() : 0; }

 private:
  using handle = std::shared_ptr<detail::sending_end<T>>;

  const handle& named() const {
    if (!state_) throw error(errc::invalid_argument, "this remote_sender names no channel");
    return state_;
  }

  handle state_;
};

/// The end that receives. The destructor closes it, and destroys the values that were not taken.
template <class T>
class remote_receiver {
 public:
  using value_type = T;

  remote_receiver() = default;  ///< no channel

  /// \param ctx  the context, or lane, that the endpoint belongs to
  /// \param peer the process of the sender
  /// \param number   as the sender's
  /// \param capacity as the sender's. Memory for so many values is allocated here
  /// \param limit    of the bytes of one value
  /// \throws weft::error (invalid_argument) when this number is open already; std::bad_alloc
  remote_receiver(context& ctx, const endpoint& peer, std::uint32_t number, std::size_t capacity,
                  at_most limit = {})
      : state_(std::make_shared<detail::receiving_end<T>>(peer, number, capacity, limit)) {
    spawn(ctx, detail::move_in(state_));
  }
  remote_receiver(remote_receiver&&) noexcept = default;
  remote_receiver& operator=(remote_receiver&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~remote_receiver() { close(); }

  /// Yields the oldest value; none when the channel is closed and empty. A receive that was stopped
  /// has taken no value. Under `when_any` a value that came too late to be the first is lost.
  /// \throws weft::error  stopped; peer_lost and others of the channel, see above, when the values
  ///         that have come are taken
  task<std::optional<T>> receive() { return detail::receive_from(named()); }

  /// The oldest value, if one has come.
  std::optional<T> try_receive() noexcept {
    std::optional<T> value;
    if (state_) value = state_->values.try_receive();
    if (value) state_->took();
    return value;
  }

  /// Takes no more values from the sender, whose sends end with errc::closed. Those that have come
  /// can still be received; then comes the end. Never blocks.
  void close() noexcept {
    if (state_) state_->close();
  }
  /// Whether no more values come: it was closed, by either side, or has failed.
  bool is_closed() const noexcept { return !state_ || state_->values.is_closed(); }

  /// After `close` or the end: ends when the number is free again.
  /// \throws weft::error  stopped; others, see above
  task<void> closed() { return detail::wait_for_end<T>(named()); }

  /// Values that have come and were not taken.
  std::size_t size() const noexcept { return state_ ? state_->values.size() : 0; }
  std::size_t capacity() const noexcept { return state_ ? state_->values.capacity() : 0; }

 private:
  using handle = std::shared_ptr<detail::receiving_end<T>>;

  const handle& named() const {
    if (!state_) throw error(errc::invalid_argument, "this remote_receiver names no channel");
    return state_;
  }

  handle state_;
};

}  // namespace weft
