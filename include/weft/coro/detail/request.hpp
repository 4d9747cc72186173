// SPDX-License-Identifier: Apache-2.0
// request, request_awaiter: from a small value that describes an operation to an awaitable.
#pragma once

#include <concepts>
#include <coroutine>
#include <optional>
#include <stop_token>

#include <weft/coro/executor.hpp>

namespace weft::detail {

/// A request is a movable description: `peer.send(buffer, tag)` returns one and does nothing, so
/// its type is [[nodiscard]]. Its `operation_type` is the pinned operation made from it:
///   operation_type(const R&, complete_fn)
///   bool start() noexcept    true: ended already, `status` is set, `complete` will not be called;
///                            false: `complete` comes later, never inside start() itself
///   void cancel() noexcept   any thread, also before and during start(); the operation still ends
///                            exactly once, with errc::stopped unless it was too late
///   value_type take()        after the end, if status is ok
///   std::string explain()    after the end, if status is not ok: cause and cure for people
template <class R>
concept request = requires(const R& r, typename R::operation_type& op) {
  typename R::value_type;
  { op.start() } noexcept -> std::same_as<bool>;
  { op.cancel() } noexcept;
  { op.take() } -> std::same_as<typename R::value_type>;
  { op.explain() } -> std::convertible_to<std::string>;
};

/// An operation with a member `heed_deadline(const task_environment&)` learns of the deadline of
/// the coroutine that awaits it, before `start`.
///
/// An operation that often ends as it starts can do so before it heeds stops, which costs locked
/// instructions:
///   bool try_start() noexcept        true: it has ended, as by start; false: nothing has happened
///
/// A request that may be done without an operation:
///   bool try_now() const noexcept    true: it has ended well, and no operation is made;
///                                    false: nothing has happened. Any thread.
/// Its operation has a member `request` with a copy of it.
template <class R>
concept request_without_operation =
    request<R> && std::is_void_v<typename R::value_type> && requires(const R& r) {
      { r.try_now() } noexcept -> std::same_as<bool>;
    };

/// Awaits one request. Lives in the awaiting coroutine's frame.
template <class R>
class request_awaiter final : public R::operation_type {
  using base = typename R::operation_type;

 public:
  using value_type = typename R::value_type;

  explicit request_awaiter(const R& r) : base(r, &ended) {}

  bool await_ready() const noexcept { return false; }

  /// Starting happens here and not in await_ready, because the operation may end on another thread
  /// the moment it is started, and must know by then the coroutine to resume.
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    const task_environment* const c = task_environment_of(self.promise());
    if constexpr (request_without_operation<R>)
      if (!(c && c->stop.stop_requested()) && this->request.try_now()) return false;
    if constexpr (requires { base::try_start(); })
      if (!(c && c->stop.stop_requested()) && base::try_start()) return false;
    self_ = self;
    if (c) {
      this->on = c->on;
      if constexpr (requires { base::heed_deadline(*c); }) base::heed_deadline(*c);
      if (c->stop.stop_possible()) [[unlikely]]
        heed(c->stop);
    }
    return !this->start();
  }

  value_type await_resume() {
    if (on_stop_) [[unlikely]]
      ignore_stop();
    if (this->status != errc::ok) [[unlikely]]
      fail();
    return this->take();
  }

  /// `as_result` calls this instead of await_resume.
  result<value_type> resume_as_result() {
    on_stop_.reset();
    if (this->status != errc::ok) return error(this->status, this->explain());
    if constexpr (std::is_void_v<value_type>)
      return {};
    else
      return this->take();
  }

 private:
  struct canceller {
    request_awaiter* op;
    void operator()() const noexcept { op->cancel(); }
  };

  // Seldom called, and apart, so that the rest becomes a part of each coroutine.
  [[gnu::noinline]] void heed(const std::stop_token& stop) {
    on_stop_.emplace(stop, canceller{this});
  }
  [[gnu::noinline]] void ignore_stop() noexcept { on_stop_.reset(); }
  [[noreturn, gnu::noinline]] void fail() const { throw error(this->status, this->explain()); }

  static void ended(operation& op) noexcept { static_cast<request_awaiter&>(op).self_.resume(); }

  std::coroutine_handle<> self_;
  std::optional<std::stop_callback<canceller>> on_stop_;
};

/// Makes every request awaitable by `co_await` without a wrapper type. In the namespace of the
/// requests, argument-dependent lookup finds it from any namespace.
template <request R>
request_awaiter<R> operator co_await(const R& r) {
  return request_awaiter<R>(r);
}

}  // namespace weft::detail

namespace weft {

/// For requests in other namespaces.
using detail::operator co_await;

}  // namespace weft
