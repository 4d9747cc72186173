// SPDX-License-Identifier: Apache-2.0
// resume_on, resume_home: move a coroutine to another executor, and back home.
#pragma once

#include <coroutine>

#include <weft/coro/detail/awaitable.hpp>
#include <weft/coro/detail/run_loop.hpp>

namespace weft {

/// What `resume_on` and `resume_home` return: moves the awaiting chain. This operation lives in the
/// awaiting coroutine's frame.
class move_awaiter final : public operation {
 public:
  /// \param to null: home
  explicit move_awaiter(executor* to) noexcept : operation(&arrived), to_(to) {}

  bool await_ready() const noexcept { return false; }

  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    self_ = self;
    task_environment* c = task_environment_of(self.promise());
    if (!to_) {
      to_ = home_of(c);
      if (!c->on && detail::run_loop::here() == c->home) return false;
    }
    // Before the post: afterwards the chain may run, and move again, on another thread.
    if (c) c->on = to_->is_home() ? nullptr : to_;
    to_->post(*this);
    return true;
  }
  void await_resume() const noexcept {}

 private:
  static executor* home_of(const task_environment* c) {
    if (executor* home = c && c->home ? c->home->home() : nullptr) return home;
    throw error(errc::invalid_argument,
                "this coroutine has no home to return to; start it with run or spawn of a context");
  }
  static void arrived(operation& op) noexcept { static_cast<move_awaiter&>(op).self_.resume(); }

  executor* to_;
  std::coroutine_handle<> self_;
};

/// `co_await resume_on(pool)` continues on one of the executor's threads, and so do, from then on,
/// all awaits of this chain: of this task, of the tasks that it awaits, and of those that await it.
/// \param where a `pool` or another executor; must outlive the chain's time on it, and every
///        `within`, `until` and request in a scope that the chain began there
inline move_awaiter resume_on(executor& where) noexcept { return move_awaiter(&where); }

/// `co_await resume_home()` continues on the thread inside `run()` of the context that started the
/// chain. Costs nothing if the chain is there already.
/// \throws weft::error (invalid_argument) in a chain that no context started
inline move_awaiter resume_home() noexcept { return move_awaiter(nullptr); }

}  // namespace weft
