// SPDX-License-Identifier: Apache-2.0
// scheduled_continuation, one_shot_event: resume a coroutine on its chain's executor.
#pragma once

#include <atomic>
#include <coroutine>

#include <weft/coro/detail/run_loop.hpp>

namespace weft::detail {

/// A suspended coroutine with the executor where it resumes. Lives in the object that the coroutine
/// waits for. The coroutine's thread calls `set` before any thread can call `go`; any thread calls
/// `go`, once per `set`.
class scheduled_continuation final : public operation {
 public:
  scheduled_continuation() noexcept : operation(&arrived) {}

  /// \param whom  the coroutine
  /// \param where its task environment; null for a foreign coroutine, which resumes on the thread
  ///        that calls go
  void set(std::coroutine_handle<> whom, task_environment* where) noexcept {
    whom_ = whom;
    where_ = where;
  }

  /// Resumes the coroutine: on this thread if it belongs here, otherwise through its executor. The
  /// caller must not touch this object afterwards.
  void go() noexcept {
    if (executor* elsewhere = detour())
      elsewhere->post(*this);
    else
      whom_.resume();
  }

  /// Resumes the coroutine through its executor, also if it belongs on this thread: the call runs
  /// no other code, however many coroutines resume each other. A coroutine without an executor
  /// resumes inside the call. The caller must not touch this object afterwards.
  void post() noexcept {
    if (executor* own = where_ ? executor_of(*where_) : nullptr)
      own->post(*this);
    else
      whom_.resume();
  }

 private:
  static executor* executor_of(const task_environment& c) noexcept {
    if (c.on) return c.on;
    return c.home ? c.home->home() : nullptr;
  }

  executor* detour() const noexcept {
    if (!where_) return nullptr;
    if (!where_->on && where_->home == run_loop::here()) return nullptr;
    return executor_of(*where_);
  }

  static void arrived(operation& op) noexcept {
    static_cast<scheduled_continuation&>(op).whom_.resume();
  }

  std::coroutine_handle<> whom_;
  task_environment* where_ = nullptr;
};

/// An event that is set once, and one coroutine that may wait for it. Any thread calls `open`, one
/// thread awaits; the second of the two resumes the coroutine. All orders:
/// tests/interleave/one_shot_event.cpp.
class one_shot_event {
 public:
  void open() noexcept {
    if (state_.exchange(opened, std::memory_order_acq_rel) == waiting) back_.go();
  }

  struct awaiter {
    explicit awaiter(one_shot_event& g) noexcept : at(g) {}
    one_shot_event& at;

    bool await_ready() const noexcept {
      return at.state_.load(std::memory_order_acquire) == opened;
    }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
      at.back_.set(self, task_environment_of(self.promise()));
      auto expected = closed;
      return at.state_.compare_exchange_strong(expected, waiting, std::memory_order_acq_rel);
    }
    void await_resume() const noexcept {}
  };
  awaiter operator co_await() noexcept { return awaiter(*this); }

 private:
  enum state : unsigned char {
    closed,   ///< not set, no coroutine waits
    waiting,  ///< not set, back_ waits
    opened    ///< set
  };
  std::atomic<state> state_ = closed;
  scheduled_continuation back_;
};

}  // namespace weft::detail
