// SPDX-License-Identifier: Apache-2.0
// Calls: handlers that peers call by number (active messages, RPC). `context::on`, `endpoint::call`
// and `endpoint::post` are their beginnings.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/claim.hpp>
#include <weft/coro/task.hpp>
#include <weft/detail/call_ops.hpp>
#include <weft/endpoint.hpp>

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
  endpoint from() const;              ///< the caller
  std::size_t size() const noexcept;  ///< bytes of the arguments
  bool wants_reply() const noexcept;  ///< false: it was posted, and replies are dropped

  /// The arguments, if they were short and are here as a whole; empty otherwise. Valid until
  /// `recv`, `discard` or the handler's end. While they are kept, they cost the caller credit.
  const_buffer data() const noexcept;

  /// Receives the arguments, once. Long ones cross now, directly into this memory. Ends as
  /// `endpoint::recv`: truncated, peer_lost, stopped ...
  /// \param into of size() bytes; a list must live until the end, too
  detail::claimed_request recv(mutable_buffer into) noexcept;
  detail::claimed_request recv(std::span<const mutable_buffer> list) noexcept;
  /// Drops the arguments.
  void discard() noexcept;

  /// When the caller stops waiting; time_point::max(): not known.
  std::chrono::steady_clock::time_point deadline() const noexcept;
  bool stop_requested() const noexcept;

  /// Sends the reply, once. Without one, the handler's end sends an empty reply, and its exception
  /// ends the call with errc::refused and the exception's text. Ends as `endpoint::send` does; with
  /// errc::invalid_argument if there was a reply already.
  /// \param data unchanged until the end
  detail::reply_request reply(const_buffer data) noexcept { return {self_, data}; }

  /// The same, for what `endpoint::call<R>` expects. \throws also std::bad_alloc
  template <class R>
  task<void> reply_value(R value) {
    const detail::call_bytes packed = detail::pack_values(value);
    co_await reply(packed.bytes());
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
};

namespace detail {

/// The code of a handler, without its type. Destroyed when no call of it runs.
class call_code {
 public:
  virtual ~call_code() = default;
  virtual task<void> serve(call) = 0;
  virtual bool is_inline() const noexcept { return false; }
  /// Of an inline handler. \return bytes of the reply \throws to refuse the call
  virtual std::size_t answer(const inline_call&) { return 0; }
};

template <class T>
struct is_task : std::false_type {};
template <class T>
struct is_task<task<T>> : std::true_type {
  using value_type = T;
};

/// R(Args...), taken apart.
template <class Signature>
struct call_types;
template <class R, class... Args>
struct call_types<R(Args...)> {
  using result = R;
  using arguments = std::tuple<stored_t<Args>...>;
  static arguments unpack(const_buffer from) {
    return unpack_values<std::remove_cvref_t<Args>...>(from);
  }

  template <class F>
  static decltype(auto) invoke(F& f, arguments& a) {
    return std::apply([&f](auto&... each) -> decltype(auto) { return f(pass<Args>(each)...); }, a);
  }

 private:
  /// A parameter by value takes the decoded one; others refer to it.
  template <class Arg, class Stored>
  static decltype(auto) pass(Stored& s) {
    if constexpr (std::is_lvalue_reference_v<Arg>)
      return (s);
    else if constexpr (std::is_same_v<std::remove_cvref_t<Arg>, Stored>)
      return std::move(s);
    else
      return std::remove_cvref_t<Arg>(s.data(), s.size());
  }
};

void refuse_long_call(std::size_t size);

template <class F>
class raw_code final : public call_code {
 public:
  explicit raw_code(F f) : f_(std::move(f)) {}
  task<void> serve(call c) override { return f_(c); }

 private:
  F f_;
};

template <class Signature, class F>
class typed_code final : public call_code {
  using types = call_types<Signature>;
  using arguments = typename types::arguments;
  using result = typename types::result;

 public:
  explicit typed_code(F f) : f_(std::move(f)) {}

  task<void> serve(call c) override {
    arguments all;
    if (c.data().size() == c.size()) {
      all = types::unpack(c.data());
      c.discard();
    } else {
      refuse_long_call(c.size());
      std::vector<std::byte> body(c.size());
      co_await c.recv(body);
      all = types::unpack(body);
    }
    using returned = decltype(types::invoke(f_, all));
    if constexpr (std::is_void_v<result>) {
      if constexpr (is_task<returned>::value)
        co_await types::invoke(f_, all);
      else
        types::invoke(f_, all);
    } else if constexpr (is_task<returned>::value) {
      result value = co_await types::invoke(f_, all);
      const call_bytes packed = pack_values(value);
      co_await c.reply(packed.bytes());
    } else {
      result value = types::invoke(f_, all);
      const call_bytes packed = pack_values(value);
      co_await c.reply(packed.bytes());
    }
  }

 private:
  F f_;
};

template <class F>
class raw_inline_code final : public call_code {
 public:
  explicit raw_inline_code(F f) : f_(std::move(f)) {}
  task<void> serve(call) override { co_return; }
  bool is_inline() const noexcept override { return true; }
  std::size_t answer(const inline_call& c) override {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, const inline_call&>>) {
      f_(c);
      return 0;
    } else {
      return f_(c);
    }
  }

 private:
  F f_;
};

/// Copies a packed reply into the room for it. \throws weft::error (refused)
std::size_t put_inline_reply(const inline_call& c, const_buffer packed);

template <class Signature, class F>
class typed_inline_code final : public call_code {
  using types = call_types<Signature>;

 public:
  explicit typed_inline_code(F f) : f_(std::move(f)) {}
  task<void> serve(call) override { co_return; }
  bool is_inline() const noexcept override { return true; }
  std::size_t answer(const inline_call& c) override {
    typename types::arguments all = types::unpack(c.data);
    if constexpr (std::is_void_v<typename types::result>) {
      types::invoke(f_, all);
      return 0;
    } else {
      const typename types::result value = types::invoke(f_, all);
      return put_inline_reply(c, pack_values(value).bytes());
    }
  }

 private:
  F f_;
};

}  // namespace detail

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

// --- endpoint
// -------------------------------------------------------------------------------------

template <class R, class... Args>
detail::typed_call_request<R> endpoint::call(am number, const Args&... args) const {
  return {name(), number, detail::pack_values(args...)};
}

template <class... Args>
detail::typed_post_request endpoint::post(am number, const Args&... args) const {
  return {name(), number, detail::pack_values(args...)};
}

}  // namespace weft
