// SPDX-License-Identifier: Apache-2.0
// wait_awaiter, unstarted_wait: what `co_await` makes of a wait for an event, a semaphore or a
// channel.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include <weft/coro/detail/waiter.hpp>

namespace weft::detail {

/// The awaiter of one wait. Lives in the awaiting coroutine's frame: to wait allocates nothing.
/// `Derived` has
///   bool try_now() noexcept   true: done at once, and no wait is necessary
///   bool start() noexcept     with the lock of the object: tries again, then enters the list;
///                             true: it waits, and another thread may have ended it already
///   await_resume()            calls `finish` first
template <class Derived, class Waiter = waiter>
class wait_awaiter : public Waiter {
 public:
  bool await_ready() const noexcept { return false; }

  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    task_environment* const c = task_environment_of(self.promise());
    if (c && c->stop.stop_requested()) {
      this->status = errc::stopped;
      return false;
    }
    if (derived().try_now()) return false;
    this->set(self, c);
    if (c && c->stop.stop_possible()) on_stop_.emplace(c->stop, stopper{this});
    return derived().start();
  }

 protected:
  using Waiter::Waiter;
  ~wait_awaiter() = default;

  /// \param what it waited for. \throws weft::error (stopped, closed)
  void finish(const char* what) {
    on_stop_.reset();
    if (this->status != errc::ok) [[unlikely]]
      throw wait_failure(this->status, what);
  }

 private:
  struct stopper {
    waiter* who;
    void operator()() const noexcept { who->stop(); }
  };

  Derived& derived() noexcept { return static_cast<Derived&>(*this); }

  std::optional<std::stop_callback<stopper>> on_stop_;
};

}  // namespace weft::detail

namespace weft {

/// What `event::wait`, `semaphore::acquire`, `mutex::lock` and `channel::receive` return: a movable
/// description of a wait, which does nothing until it is awaited.
template <class Awaiter, class Object>
class [[nodiscard]] unstarted_wait {
 public:
  explicit unstarted_wait(Object& of) noexcept : of_(&of) {}
  Awaiter operator co_await() const noexcept { return Awaiter(*of_); }

 private:
  Object* of_ = nullptr;
};

}  // namespace weft
