// SPDX-License-Identifier: Apache-2.0
#include <weft/coro/local_loop.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>

#include "coro/timer_heap.hpp"

namespace weft {

class local_loop::impl final : public executor,
                               public detail::run_loop,
                               public detail::timer_service {
 public:
  // executor
  void post(operation& work) noexcept override {
    const std::lock_guard lock(mutex_);
    queue_.push(work);
    changed_.notify_one();
  }
  bool is_home() const noexcept override { return true; }

  // run_loop
  executor* home() noexcept override { return this; }
  detail::timer_service* timers() noexcept override { return this; }
  void run_until_done(const std::atomic<bool>& done) noexcept override {
    // A destructor deep inside a completion waits: this thread has the place already.
    std::unique_lock<std::mutex> place(place_, std::defer_lock);
    if (here() != this) place.lock();
    const inside self(*this);
    for (std::unique_lock lock(mutex_); !done.load(std::memory_order_acquire);) {
      if (operation* op = queue_.pop()) {
        lock.unlock();
        op->complete();
        lock.lock();
        continue;
      }
      const auto deadline = heap_.earliest();
      if (!deadline)
        changed_.wait(lock);
      else if (*deadline <= now())
        end_due();
      else
        changed_.wait_until(lock, *deadline);
    }
  }

  // timer_service
  detail::time_point now() const noexcept override { return std::chrono::steady_clock::now(); }
  void start(detail::timer& t) noexcept override {
    try {
      const std::lock_guard lock(mutex_);
      heap_.push(t);
      changed_.notify_one();
    } catch (const std::bad_alloc&) {
      end(t, errc::out_of_memory);
    }
  }
  void cancel(detail::timer& t) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      if (!heap_.remove(t)) return;
    }
    end(t, errc::stopped);
  }

 private:
  void end(operation& op, errc status) noexcept {
    op.status = status;
    (op.on ? op.on : this)->post(op);
  }

  /// With the mutex held. Timers of chains that live elsewhere go there from the loop, without it.
  void end_due() noexcept {
    operation_list due;
    heap_.pop_due(now(), due);
    while (operation* op = due.pop()) {
      if (op->on)
        op->on->post(*op);
      else
        queue_.push(*op);
    }
  }

  std::mutex place_;  // held by the thread inside
  std::mutex mutex_;  // what follows
  std::condition_variable changed_;
  operation_list queue_;
  detail::timer_heap heap_;
};

local_loop::local_loop() : impl_(std::make_unique<impl>()) {}
local_loop::~local_loop() = default;
executor& local_loop::home() noexcept { return *impl_; }
detail::home local_loop::parts() noexcept { return {*impl_, *impl_, *impl_}; }

}  // namespace weft
