// SPDX-License-Identifier: Apache-2.0
// How the end of a context waits for tasks that nobody else waits for.
#pragma once

#include <atomic>

#include <weft/coro/detail/run_loop.hpp>

namespace weft::detail {

/// Counts tasks under way. `began` and `ended` by any thread; `wait` once, by the thread that ends
/// the context, after everything that they could wait for there has been made to end.
class task_count final : operation {
 public:
  task_count() noexcept
      : operation([](operation& op) noexcept {
          static_cast<task_count&>(op).none_left_.store(true, std::memory_order_release);
        }) {}

  void began() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }

  /// The caller must touch nothing of the context any more.
  void ended(executor& home) noexcept {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) home.post(*this);
  }

  /// Drives their coroutines until the last one has ended.
  void wait(run_loop& home) noexcept {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) != 1) home.run_until_done(none_left_);
  }

 private:
  std::atomic<unsigned> count_{1};  // one for whoever will wait
  std::atomic<bool> none_left_{false};
};

}  // namespace weft::detail
