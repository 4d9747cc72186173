// SPDX-License-Identifier: Apache-2.0
// Calls: handlers that peers call by number (active messages, RPC). `context::on`, `endpoint::call`
// and `endpoint::post` are their beginnings.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <utility>

#include <weft/claim.hpp>
#include <weft/coro/task.hpp>
#include <weft/detail/call_stream_ops.hpp>
#include <weft/endpoint.hpp>
#include <weft/operations/calls.hpp>

namespace weft {

namespace proto {
class call_handler;
}

/// A call that is being served: what a handler gets. A handle, cheap to copy, for the handler's
/// coroutine and what it awaits; not to be used after that has ended. One thread at a time.
///
/// The handler's chain stops when the caller stops or is lost, at the deadline, and when the
/// handler is asked to end: everything that it awaits then ends with errc::stopped.
class call {
 public:
  am number() const noexcept;
  endpoint from() const;               ///< the caller
  std::size_t size() const noexcept;   ///< bytes of the arguments
  bool wants_reply() const noexcept;   ///< false: it was posted, and replies are dropped
  bool wants_stream() const noexcept;  ///< it was made by endpoint::call_stream

  /// The arguments, if they were short and are here as a whole; empty otherwise. Valid until
  /// `recv`, `discard` or the handler's end. While they are kept, they cost the caller credit.
  const_buffer data() const noexcept;

  /// Receives the arguments, once. Long ones cross now, directly into this memory. Ends as
  /// `endpoint::recv`: truncated, peer_lost, stopped ...
  /// \param into of size() bytes; a list must live until the end, too
  claimed_request recv(mutable_buffer into) noexcept;
  claimed_request recv(std::span<const mutable_buffer> list) noexcept;
  /// Drops the arguments.
  void discard() noexcept;

  /// When the caller stops waiting; time_point::max(): not known.
  std::chrono::steady_clock::time_point deadline() const noexcept;
  bool stop_requested() const noexcept;

  /// Sends the reply, once. Without one, the handler's end sends an empty reply, and its exception
  /// ends the call with errc::refused and the exception's text. Ends as `endpoint::send` does; with
  /// errc::invalid_argument if there was a reply already.
  /// \param data unchanged until the end
  reply_request reply(const_buffer data) noexcept { return {self_, data}; }

  /// The same, for what `endpoint::call<R>` expects. \throws also std::bad_alloc
  template <class R>
  task<void> reply_value(R value) {
    const detail::call_bytes packed = detail::pack_values(value);
    co_await reply(packed.bytes());
  }

  /// Sends one value of a stream, before the end of the handler, which ends the stream. A call that
  /// wants a stream gets no other reply. Waits while the caller has 16 values that it has not
  /// taken; ends as `endpoint::send` does, with errc::invalid_argument for any other call.
  /// \param data unchanged until the end
  item_request reply_next(const_buffer data) noexcept { return {self_, data}; }

  /// For weft's own layers.
  explicit call(proto::served_call& self) noexcept : self_(&self) {}

 private:
  proto::served_call* self_;
};

/// A small call that an inline handler serves at once.
struct inline_call {
  peer_id from = no_peer;
  const_buffer data;    ///< the arguments, valid during the function
  mutable_buffer room;  ///< for the reply: 8 KiB
};

/// How a handler runs.
struct handler_options {
  /// Its coroutine starts there; null: on the thread inside `run()`.
  executor* where = nullptr;
};

/// A registered handler: calls of its number are served while this object lives. Move-only.
///
/// The destructor takes no more calls, asks those that run to stop, and returns when they have
/// ended: no code of the handler runs afterwards. Where calls run at that moment, it makes progress
/// meanwhile; not from within the handler itself, which would wait for itself. `end` does the same
/// without stopping them, as a task. May outlive its context, but then not at the same time as the
/// context's destructor. One thread at a time.
class handler {
 public:
  handler() = default;  ///< none
  handler(handler&&) noexcept = default;
  handler& operator=(handler&& other) noexcept;
  ~handler();

  /// Takes no more calls, and ends when those that run have ended. A stop of the awaiting chain
  /// asks them to stop, and is not an error.
  task<void> end();

  explicit operator bool() const noexcept { return state_ != nullptr; }

  /// For weft's own layers.
  explicit handler(std::shared_ptr<proto::call_handler> state) noexcept;

 private:
  std::shared_ptr<proto::call_handler> state_;
};

// --- endpoint ----------------------------------------------------------------------------------

template <class R, class... Args>
typed_call_request<R> endpoint::call(am number, const Args&... args) const {
  detail::require_call_values<Args...>();
  return {name(), number, detail::pack_values(args...), &detail::signature_of_call<R, Args...>};
}

template <class T, class... Args>
async_generator<T> endpoint::call_stream(am number, const Args&... args) const {
  detail::require_call_values<Args...>();
  peer();
  return detail::values_from<T>(
      detail::item_source(name(), state_, number, detail::pack_owned(args...),
                          &detail::signature_of_call<async_generator<T>, Args...>));
}

template <class... Args>
typed_post_request endpoint::post(am number, const Args&... args) const {
  detail::require_call_values<Args...>();
  return {name(), number, detail::pack_values(args...), &detail::signature_of_call<void, Args...>};
}

}  // namespace weft
