// SPDX-License-Identifier: Apache-2.0
// The arena of a build without oneTBB: threads from the constructor to the destructor.
#include "coro/own_arena.hpp"

#include <sched.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace weft::detail {

class own_arena::state {
 public:
  explicit state(int threads) {
    const auto all = static_cast<std::size_t>(threads);
    waiting_.reserve(all);
    threads_.reserve(all);
    try {
      while (threads_.size() != all) threads_.emplace_back([this] { work_until_the_end(); });
    } catch (const std::system_error& e) {
      end();
      throw error(errc::system, "thread " + std::to_string(threads_.size() + 1) + " of " +
                                    std::to_string(threads) + " of a pool could not be started: " +
                                    e.what() + "; ask for fewer, or raise the limit (ulimit -u)");
    }
  }
  ~state() { end(); }

  void enqueue(pool_worker w) {
    std::lock_guard lock(mutex_);
    waiting_.push_back(w);
    changed_.notify_one();  // with the mutex held: afterwards the pool may be gone
  }

 private:
  void work_until_the_end() noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const pool_worker work = waiting_.back();
      waiting_.pop_back();
      lock.unlock();
      work();
      lock.lock();
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
  std::vector<pool_worker> waiting_;  ///< for a thread
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

own_arena::own_arena(int threads) : state_(std::make_unique<state>(threads)) {}
own_arena::~own_arena() = default;

void own_arena::enqueue(pool_worker w) { state_->enqueue(w); }

int own_arena::usual_threads() noexcept {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

}  // namespace weft::detail
