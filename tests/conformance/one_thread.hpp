// SPDX-License-Identifier: Apache-2.0
// An executor for coroutines that do not run on the thread inside run().
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include <weft/weft.hpp>

namespace conformance {

/// One thread; not a pool, whose threads would not exist in a forked process.
class one_thread final : public weft::executor {
 public:
  ~one_thread() override {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  void post(weft::operation& work) noexcept override {
    const std::lock_guard lock(mutex_);
    work_.push(work);
    changed_.notify_one();
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return over_ || !work_.empty(); });
      weft::operation* const next = work_.pop();
      if (!next) return;
      lock.unlock();
      next->complete();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  weft::operation_list work_;
  bool over_ = false;
  std::thread thread_{[this] { serve(); }};
};

}  // namespace conformance
