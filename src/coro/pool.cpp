// SPDX-License-Identifier: Apache-2.0
#include <weft/coro/pool.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <string>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

namespace weft {

/// The work waits in a list of our own and not in the arena: posting then allocates only to start a
/// worker, and a worker that could not be started leaves its work to the others.
class pool::arena {
 public:
  explicit arena(int threads)
      : threads_(threads),
        // One more: oneTBB counts the thread that calls it, which does not work here.
        enough_(tbb::global_control::max_allowed_parallelism, enough_for(threads)),
        arena_(threads, 0) {
    arena_.initialize();
  }

  ~arena() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return workers_ == 0; });
  }

  int threads() const noexcept { return threads_; }

  void post(operation& work) noexcept {
    {
      std::lock_guard lock(mutex_);
      work_.push(work);
      if (workers_ == threads_) return;
      ++workers_;
    }
    try {
      arena_.enqueue([this] { drain(); });
    } catch (...) {
      std::unique_lock lock(mutex_);
      if (workers_ > 1) {
        retire();
        return;
      }
      lock.unlock();
      drain();  // no memory and no other thread: late is never, so here
    }
  }

 private:
  static std::size_t enough_for(int threads) {
    const auto now =
        tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    return std::max(now, static_cast<std::size_t>(threads) + 1);
  }

  void drain() noexcept {
    std::unique_lock lock(mutex_);
    while (operation* work = work_.pop()) {
      lock.unlock();
      work->complete();
      lock.lock();
    }
    retire();
  }

  /// With the mutex held, which keeps the destructor waiting until the last worker is out.
  void retire() noexcept {
    if (--workers_ == 0) idle_.notify_all();
  }

  const int threads_;
  tbb::global_control enough_;
  std::mutex mutex_;
  std::condition_variable idle_;
  operation_list work_;
  int workers_ = 0;  ///< that run or are about to; work_ is empty when it is zero
  tbb::task_arena arena_;
};

namespace {

int checked(int threads) {
  if (threads < 0)
    throw error(errc::invalid_argument, "a pool of " + std::to_string(threads) +
                                            " threads; pass 0 for one per core, or a count");
  return threads > 0 ? threads : tbb::info::default_concurrency();
}

}  // namespace

pool::pool(int threads) : arena_(std::make_unique<arena>(checked(threads))) {}
pool::~pool() = default;

void pool::post(operation& work) noexcept { arena_->post(work); }
int pool::threads() const noexcept { return arena_->threads(); }

}  // namespace weft
