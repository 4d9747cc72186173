// SPDX-License-Identifier: Apache-2.0
// pool: threads for computations.
#pragma once

#include <concepts>
#include <memory>

#include <weft/coro/resume_on.hpp>

namespace weft {

class pool;

namespace detail {

class pool_workers;

/// Runs the work that was posted to a pool. A small value, called once on a thread of the arena.
class pool_worker {
 public:
  void operator()() const noexcept;

 private:
  friend class pool_workers;
  explicit pool_worker(pool_workers& all) noexcept : all_(&all) {}
  pool_workers* all_;
};

/// What a pool needs of an arena; tbb::task_arena has it. So this header does not include oneTBB.
template <class A>
concept worker_arena = requires(A& a, pool_worker w) {
  a.enqueue(w);
  { a.max_concurrency() } -> std::convertible_to<int>;
};

}  // namespace detail

/// An executor with the threads of a oneTBB arena: `co_await resume_on(pool)` continues there, and
/// oneTBB's parallel algorithms use the pool's threads too. `co_await resume_home()` moves back. In
/// a build without oneTBB (WEFT_WITH_TBB=OFF) a pool starts threads of its own.
///
/// A program that has a tbb::task_arena of its own makes a pool of that: coroutines on the pool run
/// in the arena, and so do parallel algorithms that they call.
///
///     tbb::task_arena arena(8);
///     weft::pool in_arena(arena);
///     co_await weft::resume_on(in_arena);
///     double sum = tbb::parallel_reduce(...);   // by the arena's threads
///
/// Any thread may post to it. Work starts in the order posted, on several threads at once; the
/// coroutines of one chain still run one after the other. The destructor waits for the posted work
/// and must not run on a thread of the pool. Do not call `exit` on such a thread: oneTBB crashes.
class pool final : public executor {
 public:
  /// \param threads the number of threads that may compute at once; 0: the number of the process's
  ///        cores
  /// \throws weft::error  invalid_argument: negative; system: without oneTBB, a thread could not be
  ///        started
  explicit pool(int threads = 0);

  /// \param arena a tbb::task_arena, which must outlive the pool. The pool uses at most its
  ///        `max_concurrency` threads, and shares them with the arena's other work.
  template <detail::worker_arena Arena>
  explicit pool(Arena& arena)
      : pool(&arena, arena.max_concurrency(),
             [](void* where, detail::pool_worker w) { static_cast<Arena*>(where)->enqueue(w); }) {}
  ~pool() override;

  void post(operation& work) noexcept override;

  int threads() const noexcept;  ///< the number that may compute at once

 private:
  using enqueue_fn = void (*)(void* arena, detail::pool_worker);
  pool(void* arena, int threads, enqueue_fn enqueue);

  std::unique_ptr<detail::pool_workers> workers_;
};

}  // namespace weft
