// SPDX-License-Identifier: Apache-2.0
// Waiting for a task on a thread that otherwise runs no coroutines: for interfaces without them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include <weft/coro/detail/detached_task.hpp>
#include <weft/coro/task.hpp>
#include <weft/error.hpp>

namespace weft::detail {

/// The executor of one task: its coroutines resume on the thread that waits for it. No thread polls
/// meanwhile, so it is only for tasks that another thread ends, as the control plane's are.
template <class T>
class blocking_task final : executor, detached_task_owner {
 public:
  /// Once.
  /// \param until time_point::max(): without limit
  /// \param outer ends the wait, too
  /// \throws the exceptions of the task; weft::error (timed_out) when `until` or a stop has ended
  ///         it
  T run(task<T> x, std::chrono::steady_clock::time_point until, const std::stop_token& outer = {}) {
    std::stop_source stop;
    const std::stop_callback pass_on(outer, [&stop] { stop.request_stop(); });
    start_detached(*this, task_environment{this, stop.get_token(), nullptr, nullptr}, std::move(x),
                   [this](T v) { value_.emplace(std::move(v)); });
    while (!ended_) {
      if (operation* const next = next_until(stop.stop_requested() ? no_limit : until))
        next->complete();
      else
        stop.request_stop();
    }
    if (value_) return std::move(*value_);
    if (stop.stop_requested() && was_stopped())
      throw error(errc::timed_out, "the other side did not come in time");
    std::rethrow_exception(failure_);
  }

 private:
  static constexpr auto no_limit = std::chrono::steady_clock::time_point::max();

  void post(operation& work) noexcept override {
    const std::lock_guard lock(mutex_);
    todo_.push(work);
    posted_.notify_one();
  }

  void task_ended(std::exception_ptr failure) noexcept override {
    failure_ = std::move(failure);
    ended_ = true;
  }

  operation* next_until(std::chrono::steady_clock::time_point until) {
    std::unique_lock lock(mutex_);
    const auto some = [this] { return !todo_.empty(); };
    if (until == no_limit)
      posted_.wait(lock, some);
    else if (!posted_.wait_until(lock, until, some))
      return nullptr;
    return todo_.pop();
  }

  bool was_stopped() const {
    try {
      std::rethrow_exception(failure_);
    } catch (const error& e) {
      return e.kind() == errc::stopped;
    } catch (...) {
      return false;
    }
  }

  std::mutex mutex_;
  std::condition_variable posted_;
  operation_list todo_;  // guarded by mutex_
  std::optional<T> value_;
  std::exception_ptr failure_;
  bool ended_ = false;  // used by the waiting thread only
};

}  // namespace weft::detail
