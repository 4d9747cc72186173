// SPDX-License-Identifier: Apache-2.0
#include <weft/coro/pool.hpp>

#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include "coro/own_arena.hpp"

namespace weft {

namespace {

int checked(int threads) {
  if (threads < 0)
    throw error(errc::invalid_argument, "a pool of " + std::to_string(threads) +
                                            " threads; pass 0 for one per core, or a count");
  return threads > 0 ? threads : detail::own_arena::usual_threads();
}

}  // namespace

/// The work waits in a list of our own and not in the arena: posting then allocates only to start a
/// worker, and a worker that could not be started leaves its work to the others.
class detail::pool_workers {
 public:
  using enqueue_fn = void (*)(void* arena, pool_worker);

  explicit pool_workers(int threads)
      : threads_(threads),
        own_(std::in_place, threads),
        arena_(&*own_),
        enqueue_([](void* arena, pool_worker w) { static_cast<own_arena*>(arena)->enqueue(w); }) {}

  pool_workers(void* arena, int threads, enqueue_fn enqueue)
      : threads_(threads), arena_(arena), enqueue_(enqueue) {}

  ~pool_workers() {
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
      enqueue_(arena_, pool_worker(*this));
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

  void drain() noexcept {
    std::unique_lock lock(mutex_);
    while (operation* work = work_.pop()) {
      lock.unlock();
      work->complete();
      lock.lock();
    }
    retire();
  }

 private:
  /// With the mutex held, which keeps the destructor waiting until the last worker is out.
  void retire() noexcept {
    if (--workers_ == 0) idle_.notify_all();
  }

  const int threads_;
  std::mutex mutex_;
  std::condition_variable idle_;
  operation_list work_;
  int workers_ = 0;  ///< that run or are about to; work_ is empty when it is zero
  std::optional<own_arena> own_;
  void* const arena_;  ///< own_, or the user's
  const enqueue_fn enqueue_;
};

void detail::pool_worker::operator()() const noexcept { all_->drain(); }

pool::pool(int threads) : workers_(std::make_unique<detail::pool_workers>(checked(threads))) {}
pool::pool(void* arena, int threads, enqueue_fn enqueue)
    : workers_(std::make_unique<detail::pool_workers>(arena, threads, enqueue)) {}
pool::~pool() = default;

void pool::post(operation& work) noexcept { workers_->post(work); }
int pool::threads() const noexcept { return workers_->threads(); }

}  // namespace weft
