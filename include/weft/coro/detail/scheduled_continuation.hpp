// SPDX-License-Identifier: Apache-2.0
// Bringing a coroutine back to where its chain wants to be.
#pragma once

#include <atomic>
#include <coroutine>

#include <weft/coro/detail/run_loop.hpp>

namespace weft::detail {

/// A suspended coroutine and its way back. Lives in whatever the coroutine waits for. `set` by the
/// coroutine's thread before any thread can call `go`; `go` by any thread, once per `set`.
class scheduled_continuation final : public operation {
 public:
  scheduled_continuation() noexcept : operation(&arrived) {}

  /// \param whom  the coroutine
  /// \param where its chain; null for a foreign coroutine, which resumes on the thread that calls
  /// go
  void set(std::coroutine_handle<> whom, task_environment* where) noexcept {
    whom_ = whom;
    where_ = where;
  }

  /// Resumes the coroutine, here if this is its place, else through its executor. The caller must
  /// not touch this object afterwards.
  void go() noexcept {
    if (executor* elsewhere = detour())
      elsewhere->post(*this);
    else
      whom_.resume();
  }

 private:
  executor* detour() const noexcept {
    if (!where_) return nullptr;
    if (where_->on) return where_->on;
    return where_->home && where_->home != run_loop::here() ? where_->home->home() : nullptr;
  }

  static void arrived(operation& op) noexcept {
    static_cast<scheduled_continuation&>(op).whom_.resume();
  }

  std::coroutine_handle<> whom_;
  task_environment* where_ = nullptr;
};

/// Something that happens once, and one coroutine that may wait for it. `open` may be called by any
/// thread, `await` by one; whichever comes second makes the coroutine go on. In every order:
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
    closed,   ///< it has not happened, no coroutine waits
    waiting,  ///< it has not happened, back_ waits
    opened    ///< it has happened
  };
  std::atomic<state> state_ = closed;
  scheduled_continuation back_;
};

}  // namespace weft::detail
