// SPDX-License-Identifier: Apache-2.0
// event: set and reset by any thread, awaited by many coroutines.
#pragma once

#include <mutex>

#include <weft/coro/detail/wait_awaiter.hpp>

namespace weft {

class event;

/// What `co_await e.wait()` makes.
class event_awaiter final : public detail::wait_awaiter<event_awaiter> {
 public:
  explicit event_awaiter(event& e) noexcept;
  bool try_now() const noexcept;
  bool start() noexcept;
  void await_resume() { finish("an event"); }

 private:
  event& of_;
};

/// A flag that coroutines wait for; it stays set until `reset`. The coroutines may be of several
/// contexts and pools, and each resumes on its own chain's executor. All members are for any
/// thread, coroutine or not.
///
/// The destructor ends all waits with errc::closed. No call may be under way then; a coroutine
/// whose wait has just ended may destroy the event.
///
///     weft::event loaded;
///     co_await loaded.wait();                    // in any number of coroutines
///     loaded.set();                              // in a thread of another library
class event {
 public:
  /// \param is_set whether it is set at first
  explicit event(bool is_set = false) noexcept : set_(is_set) {}
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  ~event();

  /// Sets it and ends all waits. Runs no other code of weft's coroutines inside the call.
  void set() noexcept;
  void reset() noexcept;  ///< later waits wait for the next `set`
  bool is_set() const noexcept;

  /// `co_await e.wait()` waits until the event is set; not at all if it is. A wait that `set` has
  /// ended stays ended, also if `reset` follows at once.
  /// \throws weft::error stopped (the chain's stop token; also if the event is set), closed (the
  ///         event was destroyed)
  unstarted_wait<event_awaiter, event> wait() noexcept {
    return unstarted_wait<event_awaiter, event>(*this);
  }

 private:
  friend class event_awaiter;

  mutable std::mutex mutex_;
  bool set_;
  detail::waiter_list waiting_;
};

}  // namespace weft
