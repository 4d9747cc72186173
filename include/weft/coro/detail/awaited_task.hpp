// SPDX-License-Identifier: Apache-2.0
// awaited_task: a thread waits for a chain.
#pragma once

#include <atomic>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <weft/coro/detail/detached_task.hpp>
#include <weft/coro/detail/run_loop.hpp>
#include <weft/coro/detail/timer.hpp>
#include <weft/coro/executor.hpp>

namespace weft::detail {

/// The parts of a chain's home. A context's engine is all three, and so is a local_loop.
struct home {
  run_loop& drives;
  executor& runs;
  timer_service& times;
};

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

  /// The waiting thread may be asleep in the engine: the end is posted as an operation, which wakes
  /// it.
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

}  // namespace weft::detail
