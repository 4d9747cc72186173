// SPDX-License-Identifier: Apache-2.0
// From ordinary code into coroutines and back.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

#include <weft/context.hpp>
#include <weft/detail/detached_task.hpp>
#include <weft/detail/run_loop.hpp>

namespace weft {

namespace detail {

/// What a context offers to chains. The context's engine is all three.
struct home {
  run_loop& drives;
  executor& runs;
  timer_service& times;
};
home home_of(core& c) noexcept;

/// Runs `x` on the thread inside run() and waits for its end. Lives on the waiting thread's stack.
template <class X>
class awaited_task final : detached_task_owner, operation {
 public:
  using value = awaited_t<X>;

  awaited_task(home h, X x) : operation(&begin), home_(h), x_(std::move(x)) {}

  value wait() {
    home_.runs.post(*this);
    home_.drives.run_until_done(done_);
    if (failure_) std::rethrow_exception(failure_);
    if constexpr (!std::is_void_v<value>) return std::move(*value_);
  }

 private:
  static void begin(operation& op) noexcept {
    auto& self = static_cast<awaited_task&>(op);
    const task_environment start{nullptr, {}, &self.home_.times, &self.home_.drives};
    try {
      if constexpr (std::is_void_v<value>)
        start_detached(self, start, std::move(self.x_), [] {});
      else
        start_detached(self, start, std::move(self.x_),
                       [&self](value v) { self.value_.emplace(std::move(v)); });
    } catch (...) {
      self.task_ended(std::current_exception());
    }
  }

  /// The waiting thread may be asleep in the engine: the end reaches it as an operation.
  void task_ended(std::exception_ptr failure) noexcept override {
    failure_ = std::move(failure);
    set_complete([](operation& op) noexcept {
      static_cast<awaited_task&>(op).done_.store(true, std::memory_order_release);
    });
    if (run_loop::here() == &home_.drives)
      complete();
    else
      home_.runs.post(*this);
  }

  using stored = std::conditional_t<std::is_void_v<value>, char, value>;
  home home_;
  X x_;
  std::optional<stored> value_;
  std::exception_ptr failure_;
  std::atomic<bool> done_{false};
};

/// \throws weft::error (invalid_argument) in a child of the process that made the context
void refuse_child(const core& c);

[[noreturn]] void spawned_task_failed(const std::exception_ptr& failure) noexcept;

}  // namespace detail

/// Runs a task to its end on this thread, and with it everything else of the context whose home is
/// this thread. While it waits it polls, and sleeps when polling brings nothing.
///
/// Several threads may be inside: one of them runs all coroutines, the others wait for their end,
/// so that coroutines of a context never run in parallel. Not from within a coroutine.
/// \return what the task returns \throws what the task throws
template <class T>
T run(context& ctx, task<T> main) {
  detail::refuse_child(ctx.core());
  return detail::awaited_task<task<T>>(detail::home_of(ctx.core()), std::move(main)).wait();
}

/// The same for any one thing that can be awaited: `sync_wait(ctx, peer.send(data, tag{1}))`.
template <class X>
awaited_t<X> sync_wait(context& ctx, X x) {
  return detail::awaited_task<X>(detail::home_of(ctx.core()), std::move(x)).wait();
}

/// Starts a task that is not waited for; it runs when a thread is inside `run`. Any thread. The
/// context's end makes whatever of the context it waits for end with errc::closed, and then waits
/// for the task itself, also on a pool: one that waits for something else holds it up.
/// \param on_failure called with what it throws, on its thread; by default that ends the program
void spawn(context& ctx, task<void> x,
           std::function<void(std::exception_ptr)> on_failure = detail::spawned_task_failed);

/// The executor that stands for the thread inside `run`: `co_await resume_on(home(ctx))` brings a
/// coroutine back from a pool.
executor& home(context& ctx) noexcept;

}  // namespace weft
