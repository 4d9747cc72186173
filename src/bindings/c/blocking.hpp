// SPDX-License-Identifier: Apache-2.0
// Waiting for a task of the control plane on a thread that otherwise runs no coroutines.
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

namespace weft::c {

/// The executor of one task: its coroutines resume on the thread that waits for it. No thread polls
/// meanwhile, so it is only for tasks that the control plane's thread ends.
template <class T>
class blocking final : executor, detail::detached_task_owner {
 public:
  /// \param timeout_ms milliseconds; negative: without limit
  /// \throws the exceptions of the task; weft::error (timed_out)
  T run(task<T> x, int timeout_ms) {
    std::stop_source stop;
    detail::start_detached(*this, task_environment{this, stop.get_token(), nullptr, nullptr},
                           std::move(x), [this](T v) { value_.emplace(std::move(v)); });
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    bool late = false;
    while (!ended_) {
      operation* const next = next_until(timeout_ms < 0 || late ? nullptr : &until);
      if (next) {
        next->complete();
        continue;
      }
      late = true;
      stop.request_stop();
    }
    if (late && failure_ && stopped())
      throw error(errc::timed_out, "the other side did not come in time");
    if (failure_) std::rethrow_exception(failure_);
    return std::move(*value_);
  }

 private:
  void post(operation& work) noexcept override {
    const std::lock_guard lock(mutex_);
    todo_.push(work);
    posted_.notify_one();
  }

  void task_ended(std::exception_ptr failure) noexcept override {
    failure_ = std::move(failure);
    ended_ = true;
  }

  operation* next_until(const std::chrono::steady_clock::time_point* until) {
    std::unique_lock lock(mutex_);
    const auto some = [this] { return !todo_.empty(); };
    if (!until)
      posted_.wait(lock, some);
    else if (!posted_.wait_until(lock, *until, some))
      return nullptr;
    return todo_.pop();
  }

  bool stopped() const {
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

}  // namespace weft::c
