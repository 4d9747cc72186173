// SPDX-License-Identifier: Apache-2.0
// The pool of a build without oneTBB: threads of its own, from the constructor to the destructor.
#include <weft/coro/pool.hpp>

#include <sched.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace weft {

class pool::arena {
 public:
  explicit arena(int threads) {
    threads_.reserve(static_cast<std::size_t>(threads));
    try {
      while (threads_.size() != threads_.capacity())
        threads_.emplace_back([this] { work_until_the_end(); });
    } catch (const std::system_error& e) {
      end();
      throw error(errc::system, "thread " + std::to_string(threads_.size() + 1) + " of " +
                                    std::to_string(threads) + " of a pool could not be started: " +
                                    e.what() + "; ask for fewer, or raise the limit (ulimit -u)");
    }
  }

  ~arena() { end(); }

  int threads() const noexcept { return static_cast<int>(threads_.size()); }

  void post(operation& work) noexcept {
    std::lock_guard lock(mutex_);
    work_.push(work);
    changed_.notify_one();  // with the mutex held: afterwards the pool may be gone
  }

 private:
  /// The list may grow until the last work has ended: each thread leaves when it is empty, and work
  /// that posts more work is on a thread that has not left.
  void work_until_the_end() noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (operation* const work = work_.pop()) {
        lock.unlock();
        work->complete();
        lock.lock();
      } else if (ending_) {
        return;
      } else {
        changed_.wait(lock);
      }
    }
  }

  void end() noexcept {
    {
      std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    for (std::thread& one : threads_) one.join();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  operation_list work_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

namespace {

int cores_of_this_process() noexcept {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

int checked(int threads) {
  if (threads < 0)
    throw error(errc::invalid_argument, "a pool of " + std::to_string(threads) +
                                            " threads; pass 0 for one per core, or a count");
  return threads > 0 ? threads : cores_of_this_process();
}

}  // namespace

pool::pool(int threads) : arena_(std::make_unique<arena>(checked(threads))) {}
pool::~pool() = default;

void pool::post(operation& work) noexcept { arena_->post(work); }
int pool::threads() const noexcept { return arena_->threads(); }

}  // namespace weft
