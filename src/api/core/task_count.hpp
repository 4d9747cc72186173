// SPDX-License-Identifier: Apache-2.0
// How the end of a context waits for spawned tasks.
#pragma once

#include <atomic>

#include <weft/coro/detail/run_loop.hpp>

namespace weft::detail {

/// Counts running tasks. Any thread calls `began` and `ended`; the thread that ends the context
/// calls `wait`, or `expect_end`, once, after all operations of the context have ended.
class task_count final : operation {
 public:
  task_count() noexcept
      : operation([](operation& op) noexcept {
          static_cast<task_count&>(op).none_left_.store(true, std::memory_order_release);
        }) {}

  void began() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }

  /// The caller must not use the context any more.
  void ended(executor& home) noexcept {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) home.post(*this);
  }

  /// No task is spawned any more, except by tasks. `none_left` tells when the last one has ended,
  /// while the home thread runs completions.
  void expect_end() noexcept {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      none_left_.store(true, std::memory_order_release);
  }
  bool none_left() const noexcept { return none_left_.load(std::memory_order_acquire); }

  /// Runs the tasks until the last one has ended.
  void wait(run_loop& home) noexcept {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) != 1) home.run_until_done(none_left_);
  }

 private:
  std::atomic<unsigned> count_{1};  // one for the thread that ends the context
  std::atomic<bool> none_left_{false};
};

}  // namespace weft::detail
