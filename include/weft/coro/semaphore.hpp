// SPDX-License-Identifier: Apache-2.0
// semaphore: limits how many coroutines do something at once.
#pragma once

#include <cstddef>
#include <mutex>

#include <weft/coro/detail/wait_awaiter.hpp>

namespace weft {

class semaphore;

/// What `co_await s.acquire()` makes.
class acquire_awaiter : public detail::wait_awaiter<acquire_awaiter> {
 public:
  explicit acquire_awaiter(semaphore& s) noexcept;
  bool try_now() noexcept;
  bool start() noexcept;
  void await_resume() { finish("a semaphore"); }

 private:
  semaphore& of_;
};

/// A number of permits. Coroutines of several contexts and pools may wait for one, and each resumes
/// on its own chain's executor. A released permit goes to the coroutine that has waited longest: a
/// later one cannot overtake it. All members are for any thread, coroutine or not.
///
/// The destructor ends all waits with errc::closed. No other call may be under way then.
///
///     weft::semaphore in_flight(16);             // at most 16 requests of this kind at once
///     co_await in_flight.acquire();
///     ...
///     in_flight.release();
class semaphore {
 public:
  /// \param permits how many there are at first
  explicit semaphore(std::size_t permits) noexcept : permits_(permits) {}
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;
  ~semaphore();

  /// `co_await s.acquire()` takes a permit, and waits for one if there is none. A wait that was
  /// stopped has taken none. Under `within` and `until`, a permit that came at the last moment is
  /// kept, and the wait ends well. Under `when_any` use `mutex` or release it: a permit that came
  /// too late to be the first was taken all the same. \throws weft::error stopped (the chain's stop
  /// token), closed (the semaphore was destroyed)
  unstarted_wait<acquire_awaiter, semaphore> acquire() noexcept {
    return unstarted_wait<acquire_awaiter, semaphore>(*this);
  }

  /// Takes a permit if there is one. \return whether it did
  bool try_acquire() noexcept;

  /// Gives permits back, or adds new ones. Runs no other code of weft's coroutines inside the call.
  /// \param n how many
  void release(std::size_t n = 1) noexcept;

 private:
  friend class acquire_awaiter;

  std::mutex mutex_;
  std::size_t permits_;  ///< not zero only while no coroutine waits
  detail::waiter_list waiting_;
};

}  // namespace weft
