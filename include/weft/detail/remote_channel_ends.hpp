// SPDX-License-Identifier: Apache-2.0
// The two ends of a remote channel, and the tasks that move its values. Applications do not name
// these.
//
// The values are frames of a stream (stream::write_value). In the other direction the receiver
// writes words of 64 bits: its capacity first, and then how many values it has taken so far.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>

#include <weft/coro/as_result.hpp>
#include <weft/coro/channel.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/semaphore.hpp>
#include <weft/stream.hpp>

namespace weft::detail {

/// What both ends have. Owned by the handle, and by the task on the thread inside `run`.
template <class T>
class remote_end {
 public:
  remote_end(const endpoint& peer, std::uint32_t number, std::size_t capacity)
      : values(checked(capacity)), link(peer, number) {}

  channel<T> values;  ///< at the sender not written yet, at the receiver not taken yet
  event over;         ///< the task has ended

  // The task only.
  stream link;
  std::uint64_t moved = 0;  ///< values written, or read
  bool finished = false;    ///< the last value was written, or read

  /// The first failure counts. Any thread.
  void failed(std::exception_ptr why) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::move(why);
    }
    values.close();
  }
  void throw_failure() const {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  static std::size_t checked(std::size_t capacity) {
    if (capacity == 0)
      throw error(errc::invalid_argument, "a remote channel has a capacity of 1 or more");
    return capacity;
  }

  mutable std::mutex mutex_;
  std::exception_ptr failure_;
};

template <class T>
task<void> wait_for_end(std::shared_ptr<remote_end<T>> s) {
  co_await s->over.wait();
  s->throw_failure();
}

template <class T>
class sending_end : public remote_end<T> {
 public:
  sending_end(const endpoint& peer, std::uint32_t number, std::size_t capacity)
      : remote_end<T>(peer, number, capacity), room(capacity) {}

  semaphore room;  ///< for values that the receiver has not taken

  /// \param value moved away only if there was room
  /// \return false: the channel is closed. After a permit of `room`
  bool put(T&& value) noexcept {
    if (this->values.try_send(std::move(value))) return true;
    room.release();  // for the next one, which learns it, too
    return false;
  }
  void close() noexcept {
    this->values.close();
    room.release();
  }
};

template <class T>
task<void> send_to(std::shared_ptr<sending_end<T>> s, T value) {
  co_await s->room.acquire();
  if (s->put(std::move(value))) co_return;
  s->throw_failure();
  throw error(errc::closed, "this end of the remote channel is closed");
}

template <class T>
task<void> write_values(sending_end<T>& s) {
  while (std::optional<T> value = co_await s.values.receive()) {
    ++s.moved;
    co_await s.link.write_value(std::move(*value));
  }
  s.finished = true;
  s.link.finish();
}

template <class T>
task<void> read_room(sending_end<T>& s) {
  std::uint64_t word = 0, taken = 0;
  for (bool first = true;; first = false) {
    const result<void> read =
        co_await as_result(s.link.read_exactly(std::as_writable_bytes(std::span(&word, 1))));
    if (is_loss(read.code()) && s.finished) co_return;  // stream::closed tells what has come
    if (read.code() == errc::closed)
      throw error(errc::closed, "the receiver has closed its end of the remote channel");
    if (!read) throw read.failure();
    if (first && word != s.values.capacity())
      throw error(errc::invalid_argument,
                  "the two ends of a remote channel have different capacities: " +
                      std::to_string(s.values.capacity()) + " at the sender, " +
                      std::to_string(word) + " at the receiver");
    if (first) continue;
    if (word <= taken || word > s.moved)
      throw error(errc::protocol_error, "a receiver has taken more values than it was sent");
    s.room.release(static_cast<std::size_t>(word - taken));
    taken = word;
  }
}

template <class T>
task<void> move_out(std::shared_ptr<sending_end<T>> s) {
  try {
    scope both;
    both.start(write_values(*s));
    both.start(read_room(*s));
    co_await both.join();
    s->link.close();
    co_await s->link.closed();
  } catch (...) {
    s->failed(std::current_exception());
    s->room.release();
  }
  s->link = stream();
  s->over.set();
}

template <class T>
class receiving_end : public remote_end<T> {
 public:
  receiving_end(const endpoint& peer, std::uint32_t number, std::size_t capacity, at_most longest)
      : remote_end<T>(peer, number, capacity), limit(longest) {}

  const at_most limit;
  std::stop_source leaving;              ///< the application takes no more values
  std::atomic<std::uint64_t> taken = 0;  ///< values
  event news;                            ///< for the sender

  /// The sender learns it when half of the capacity is free again.
  void took() noexcept {
    const std::uint64_t batch = (this->values.capacity() + 1) / 2;
    if (++taken % batch == 0) news.set();
  }
  void close() noexcept {
    this->values.close();
    leaving.request_stop();
  }
};

template <class T>
task<std::optional<T>> receive_from(std::shared_ptr<receiving_end<T>> s) {
  std::optional<T> value = co_await s->values.receive();
  if (value)
    s->took();
  else
    s->throw_failure();
  co_return value;
}

template <class T>
task<void> read_values(receiving_end<T>& s) {
  for (;;) {
    result<T> value = co_await as_result(s.link.template read_value<T>(s.limit));
    if (value.code() == errc::closed) break;
    if (!value) throw value.failure();
    if (++s.moved - s.taken > s.values.capacity())
      throw error(errc::protocol_error, "a sender has sent more values than there was room for");
    if (!s.values.try_send(std::move(value).value())) break;  // closed by the application
  }
  s.finished = true;
  s.values.close();
  s.news.set();
}

template <class T>
task<void> write_room(receiving_end<T>& s) {
  std::uint64_t word = s.values.capacity();
  for (;;) {
    const result<void> written =
        co_await as_result(s.link.write(std::as_bytes(std::span(&word, 1))));
    if (!written) co_return;  // read_values learns the reason, behind the values that have come
    co_await s.news.wait();
    s.news.reset();
    if (s.finished) co_return;
    word = s.taken;
  }
}

template <class T>
task<void> move_in(std::shared_ptr<receiving_end<T>> s) {
  std::exception_ptr failure;
  try {
    scope both(s->leaving.get_token());
    both.start(read_values(*s));
    both.start(write_room(*s));
    co_await both.join();
  } catch (...) {
    if (!s->leaving.stop_requested()) failure = std::current_exception();
  }
  if (failure) {
    s->failed(std::move(failure));
  } else {
    s->link.close();
    static_cast<void>(co_await as_result(s->link.closed()));
  }
  s->link = stream();
  s->over.set();
}

}  // namespace weft::detail
