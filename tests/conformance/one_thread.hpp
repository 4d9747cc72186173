// SPDX-License-Identifier: Apache-2.0
// An executor for coroutines that do not run on the thread inside run().
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include <weft/weft.hpp>

#include "conversation.hpp"

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

/// Runs a part on a thread that is not inside run(), so that another thread ends the operations.
inline weft::task<void> elsewhere(part p, weft::context& here, weft::endpoint other) {
  one_thread there;
  std::exception_ptr failure;
  co_await weft::resume_on(there);
  try {
    co_await p(here, other);
  } catch (...) {
    failure = std::current_exception();
  }
  co_await weft::resume_home();  // `there` cannot end itself
  if (failure) std::rethrow_exception(failure);
}

}  // namespace conformance
