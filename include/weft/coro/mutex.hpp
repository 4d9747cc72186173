// SPDX-License-Identifier: Apache-2.0
// mutex: one coroutine at a time, also across co_await.
#pragma once

#include <utility>

#include <weft/coro/semaphore.hpp>

namespace weft {

class mutex;
class lock_awaiter;

/// Holds a `mutex`, or none. Its destructor unlocks. May be moved to another chain or thread, and
/// unlocked there; one thread at a time uses it.
class [[nodiscard]] mutex_lock {
 public:
  mutex_lock() noexcept = default;
  mutex_lock(mutex_lock&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
  mutex_lock& operator=(mutex_lock&& other) noexcept {
    mutex_lock old(std::move(other));
    std::swap(of_, old.of_);
    return *this;
  }
  ~mutex_lock() { unlock(); }

  bool owns_lock() const noexcept { return of_ != nullptr; }
  explicit operator bool() const noexcept { return owns_lock(); }

  /// Hands the mutex to the coroutine that has waited longest, if one waits. Does nothing without
  /// the mutex.
  void unlock() noexcept;

 private:
  friend class mutex;
  friend class lock_awaiter;
  explicit mutex_lock(mutex& m) noexcept : of_(&m) {}

  mutex* of_ = nullptr;
};

/// What `co_await m.lock()` makes.
class lock_awaiter final : public acquire_awaiter {
 public:
  explicit lock_awaiter(mutex& m) noexcept;
  mutex_lock await_resume();

 private:
  mutex& of_;
};

/// Mutual exclusion for coroutines. A coroutine may hold it across `co_await`, which is not so with
/// std::mutex, and a waiting one holds up no thread. First come, first served: `unlock` hands the
/// mutex over. It is not recursive. Coroutines of several contexts and pools may use it, and each
/// resumes on its own chain's executor. All members are for any thread; a plain thread has
/// `try_lock`.
///
/// The destructor ends all waits with errc::closed. No coroutine may hold the mutex then.
///
///     auto lock = co_await m.lock();
///     co_await server.send(question, ask);
///     co_await server.recv(answer, reply);       // no other coroutine's question in between
class mutex {
 public:
  mutex() noexcept = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  /// Waits until this coroutine is the only one. \return a `mutex_lock`
  /// \throws weft::error stopped (the chain's stop token; the mutex was not taken), closed (it was
  ///         destroyed)
  unstarted_wait<lock_awaiter, mutex> lock() noexcept {
    return unstarted_wait<lock_awaiter, mutex>(*this);
  }

  /// \return a `mutex_lock` that holds the mutex if it was free
  mutex_lock try_lock() noexcept { return free_.try_acquire() ? mutex_lock(*this) : mutex_lock(); }

 private:
  friend class mutex_lock;
  friend class lock_awaiter;

  semaphore free_{1};
};

inline void mutex_lock::unlock() noexcept {
  if (mutex* const m = std::exchange(of_, nullptr)) m->free_.release();
}

inline lock_awaiter::lock_awaiter(mutex& m) noexcept : acquire_awaiter(m.free_), of_(m) {}

inline mutex_lock lock_awaiter::await_resume() {
  finish("a mutex");
  return mutex_lock(of_);
}

}  // namespace weft
