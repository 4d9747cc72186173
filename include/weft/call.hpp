// SPDX-License-Identifier: Apache-2.0
// Calls: handlers that peers call by number (active messages, RPC). `context::on`, `endpoint::call`
// and `endpoint::post` are their beginnings.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>
#include <type_traits>
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

namespace detail {
/// What is sent in pieces.
template <class List>
concept piece_list = std::constructible_from<buffer_list<const_buffer>, const List&> &&
                     !std::convertible_to<const List&, const_buffer>;
}  // namespace detail

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

  /// The first bytes of the arguments, as far as they have come, at most 4 KiB: a header that tells
  /// where the rest goes. Of long arguments there may be none yet. A caller that sends a list
  /// (`endpoint::call` with values; send) sends its first piece along, if it is short. Valid until
  /// the handler's end. \throws std::bad_alloc
  const_buffer beginning();

  /// Receives the arguments, once. Long ones cross now, directly into this memory. Ends as
  /// `endpoint::recv`: truncated, peer_lost, stopped ...
  /// \param into of size() bytes; a list must live until the end, too
  claimed_request recv(mutable_buffer into) noexcept;
  claimed_request recv(std::span<const mutable_buffer> list) noexcept;
  claimed_request recv(const detail::buffer_list<mutable_buffer>& memory) noexcept;
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
  /// \param list of pieces (std::span<const const_buffer>), unchanged until the end, as they are
  template <detail::piece_list List>
  reply_request reply(const List& list) noexcept {
    return {self_, detail::buffer_list<const_buffer>(list)};
  }

  /// The same, for what `endpoint::call<R>` expects. \throws also std::bad_alloc
  template <class R>
  task<void> reply_value(R value) {
    detail::call_bytes::pieces list;
    const detail::call_bytes packed = detail::pack_view(value);
    const reply_request whole = reply(packed.list(list));
    co_await whole;
  }

  /// Sends one value of a stream, before the end of the handler, which ends the stream. A call that
  /// wants a stream gets no other reply. Waits while the caller has 16 values that it has not
  /// taken; ends as `endpoint::send` does, with errc::invalid_argument for any other call.
  /// \param data unchanged until the end
  item_request reply_next(const_buffer data) noexcept { return {self_, data}; }
  template <detail::piece_list List>
  item_request reply_next(const List& list) noexcept {
    return {self_, detail::buffer_list<const_buffer>(list)};
  }

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
  /// Of a typed handler: the memory of the last long arguments serves the next ones, where the
  /// handler has not taken them by value. New memory costs more time than the bytes of a long
  /// argument. It is kept until the handler ends.
  bool keeps_memory = false;
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
typed_call_request<R> endpoint::call(am number, Args&&... args) const {
  detail::require_call_values<Args...>();
  return {name(), number, detail::pack_values(std::forward<Args>(args)...),
          &detail::signature_of_call<R, std::remove_cvref_t<Args>...>};
}

template <class R, class... Args>
typed_call_request<std::remove_cvref_t<R>&> endpoint::call_into(R&& reply, am number,
                                                                Args&&... args) const {
  using value = std::remove_cvref_t<R>;
  detail::require_call_values<Args...>();
  static_assert(detail::is_borrowed<R>,
                "the object must live until the call has ended: pass a variable");
  constexpr bool is_view = detail::has_elements<value> && !detail::elements_of<value>::owns;
  static_assert(is_view || !std::is_const_v<std::remove_reference_t<R>>, "a call writes to it");
  return {name(), number, detail::pack_values(std::forward<Args>(args)...),
          &detail::signature_of_call<value, std::remove_cvref_t<Args>...>,
          const_cast<value*>(&reply)};
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
typed_post_request endpoint::post(am number, Args&&... args) const {
  detail::require_call_values<Args...>();
  return {name(), number, detail::pack_values(std::forward<Args>(args)...),
          &detail::signature_of_call<void, std::remove_cvref_t<Args>...>};
}

}  // namespace weft
