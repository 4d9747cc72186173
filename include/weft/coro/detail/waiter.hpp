// SPDX-License-Identifier: Apache-2.0
// waiter, waiter_list, ended_waits: coroutines that wait for an event, a semaphore or a channel.
#pragma once

#include <atomic>
#include <mutex>

#include <weft/coro/detail/scheduled_continuation.hpp>
#include <weft/error.hpp>

namespace weft::detail {

class waiter_list;

/// The wait of one coroutine: an intrusive node that lives in its awaiter, in the coroutine's
/// frame. Threads compete to end it, by a hand-over, a stop or the end of the object that it waits
/// for. The thread whose `claim` succeeds ends it, so nothing is handed to a wait that was stopped,
/// and a wait that was given something is not stopped any more.
class waiter {
 public:
  /// \param lock  guards `place`
  /// \param place where it waits
  waiter(std::mutex& lock, waiter_list& place) noexcept : lock_(lock), place_(place) {}
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

  errc status = errc::ok;  ///< set by the thread that ends the wait

  /// Before `enter`, on the coroutine's thread.
  void set(std::coroutine_handle<> whom, task_environment* where) noexcept {
    continuation_.set(whom, where);
  }

  /// With the lock held. Joins the list. \return false: the wait was stopped before, and has ended
  bool enter() noexcept;

  /// True once: the caller ends the wait. Any thread; while it can be found in the list.
  bool claim() noexcept { return state_.exchange(claimed, std::memory_order_acq_rel) == waiting; }

  /// Ends the wait with errc::stopped unless it has ended. Any thread, also before `enter`; without
  /// the lock.
  void stop() noexcept;

  /// Resumes the coroutine on its executor. By the thread that ended the wait, without the lock;
  /// afterwards the waiter may be gone.
  void resume() noexcept { continuation_.post(); }

 protected:
  ~waiter() = default;

 private:
  friend class waiter_list;
  enum state : unsigned char {
    fresh,    ///< not in the list yet
    waiting,  ///< in the list
    claimed   ///< a thread ends it; if that is `stop`, it may be in the list for a moment
  };

  std::mutex& lock_;
  waiter_list& place_;
  std::atomic<state> state_ = fresh;
  waiter* before_ = nullptr;
  waiter* after_ = nullptr;
  scheduled_continuation continuation_;
};

/// Waiters, the oldest first. Owns none of them; used with its owner's mutex held.
class waiter_list {
 public:
  bool empty() const noexcept { return first_ == nullptr; }

  void push(waiter& w) noexcept {
    w.before_ = last_;
    w.after_ = nullptr;
    (last_ ? last_->after_ : first_) = &w;
    last_ = &w;
  }

  void remove(waiter& w) noexcept {
    (w.before_ ? w.before_->after_ : first_) = w.after_;
    (w.after_ ? w.after_->before_ : last_) = w.before_;
  }

  /// Claims and removes the oldest one that is not being stopped; null: there is none.
  waiter* claim_first() noexcept {
    for (waiter* w = first_; w; w = w->after_) {
      if (!w->claim()) continue;
      remove(*w);
      return w;
    }
    return nullptr;
  }

  /// Removes the oldest one; null: the list is empty.
  waiter* pop() noexcept {
    waiter* w = first_;
    if (w) remove(*w);
    return w;
  }

  /// The last step of a destructor: waits for threads inside `stop`, which are about to leave the
  /// list. \param lock holds the mutex; released for moments
  void await_stopping(std::unique_lock<std::mutex>& lock) const noexcept;

 private:
  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
};

/// Claimed waits, resumed by the destructor. Declared before the lock, so that they resume after
/// its release: a resumed coroutine may run at once on another thread, and take the same lock.
class ended_waits {
 public:
  ended_waits() noexcept = default;
  ended_waits(const ended_waits&) = delete;
  ended_waits& operator=(const ended_waits&) = delete;
  ~ended_waits() {
    while (waiter* w = all_.pop()) w->resume();
  }

  void add(waiter& w, errc status = errc::ok) noexcept {
    w.status = status;
    all_.push(w);
  }

  /// Claims and adds all that wait in `list`.
  void add_all(waiter_list& list, errc status = errc::ok) noexcept {
    while (waiter* w = list.claim_first()) add(*w, status);
  }

 private:
  waiter_list all_;
};

/// The error of a wait that did not end well. \param what it waited for
error wait_failure(errc status, const char* what);

}  // namespace weft::detail
