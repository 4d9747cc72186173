// SPDX-License-Identifier: Apache-2.0
// Bringing a coroutine back to where its chain wants to be.
#pragma once

#include <atomic>
#include <coroutine>

#include <weft/detail/driver.hpp>

namespace weft::detail {

/// A suspended coroutine and its way back. Lives in whatever the coroutine waits for. `set` by the
/// coroutine's thread before anybody can call `go`; `go` by any thread, once per `set`.
class resumption final : public operation {
 public:
  resumption() noexcept : operation(&arrived) {}

  /// \param whom  the coroutine
  /// \param where its chain; null for a foreign coroutine, which resumes on the thread that calls
  /// go
  void set(std::coroutine_handle<> whom, chain* where) noexcept {
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
    return where_->home && where_->home != driver::here() ? where_->home->home() : nullptr;
  }

  static void arrived(operation& op) noexcept { static_cast<resumption&>(op).whom_.resume(); }

  std::coroutine_handle<> whom_;
  chain* where_ = nullptr;
};

/// Something that happens once, and one coroutine that may wait for it. `open` may be called by any
/// thread, `await` by one; whichever comes second makes the coroutine go on. In every order:
/// tests/interleave/gate.cpp.
class gate {
 public:
  void open() noexcept {
    if (state_.exchange(opened, std::memory_order_acq_rel) == waiting) back_.go();
  }

  struct awaiter {
    explicit awaiter(gate& g) noexcept : at(g) {}
    gate& at;

    bool await_ready() const noexcept {
      return at.state_.load(std::memory_order_acquire) == opened;
    }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
      at.back_.set(self, chain_of(self.promise()));
      auto expected = closed;
      return at.state_.compare_exchange_strong(expected, waiting, std::memory_order_acq_rel);
    }
    void await_resume() const noexcept {}
  };
  awaiter operator co_await() noexcept { return awaiter(*this); }

 private:
  enum state : unsigned char {
    closed,   ///< it has not happened, nobody waits
    waiting,  ///< it has not happened, back_ waits
    opened    ///< it has happened
  };
  std::atomic<state> state_ = closed;
  resumption back_;
};

}  // namespace weft::detail
