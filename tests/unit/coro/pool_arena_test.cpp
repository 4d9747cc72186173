// SPDX-License-Identifier: Apache-2.0
// Pools of the application's own arenas.
#include <atomic>
#include <latch>
#include <numeric>
#include <thread>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/task_arena.h>

#include <weft/coro/local_loop.hpp>
#include <weft/coro/pool.hpp>
#include <weft/coro/when.hpp>

#include "support/catch.hpp"
#include "this_thread.hpp"

using namespace weft;

namespace {

/// How many threads the arena of this thread may have. Two arenas of different widths are told
/// apart by it; an observer of oneTBB would tell, too, but leaves memory behind for the workers
/// that are still asleep when the process ends.
[[gnu::noinline]] int width_here() { return tbb::this_task_arena::max_concurrency(); }

struct where_it_ran {
  long sum = 0;
  int outside = 0;  ///< pieces that ran on a thread outside of the arena
};

/// Sums the numbers below n, by the threads of the arena that the caller is in; counts the pieces
/// that ran in an arena of another width than the one given.
where_it_ran sum_below(long n, int width) {
  return tbb::parallel_reduce(
      tbb::blocked_range<long>(0, n, 1000), where_it_ran(),
      [width](const tbb::blocked_range<long>& piece, where_it_ran so_far) {
        for (long i = piece.begin(); i != piece.end(); ++i) so_far.sum += i;
        so_far.outside += width_here() != width;
        return so_far;
      },
      [](where_it_ran a, const where_it_ran& b) {
        a.sum += b.sum;
        a.outside += b.outside;
        return a;
      });
}

task<where_it_ran> reduce_on(pool& p, int width) {
  co_await resume_on(p);
  where_it_ran result = sum_below(100'000, width);
  co_await resume_home();
  co_return result;
}

}  // namespace

TEST_CASE("a parallel_reduce of a coroutine runs in the application's arena") {
  const int width = width_here() + 2;  // no other arena here has that
  const tbb::global_control enough(tbb::global_control::max_allowed_parallelism,
                                   static_cast<std::size_t>(width));
  tbb::task_arena arena(width);
  pool in_arena(arena);
  CHECK(in_arena.threads() == width);
  local_loop loop;
  const where_it_ran there = run(loop, reduce_on(in_arena, width));
  CHECK(there.sum == 4'999'950'000);
  CHECK(there.outside == 0);
  CHECK(sum_below(2000, width).outside > 0);  // the count can tell the difference

  pool other(1);  // an arena of its own
  CHECK(run(loop, reduce_on(other, width)).outside > 0);
}

TEST_CASE("many coroutines run in an arena that the application uses, too") {
  const tbb::global_control enough(tbb::global_control::max_allowed_parallelism, 4);
  tbb::task_arena arena(2);
  pool in_arena(arena);
  local_loop loop;
  auto body = [](pool& p) -> task<long> {
    std::vector<task<where_it_ran>> all;
    for (int i = 0; i < 50; ++i) all.push_back(reduce_on(p, 2));
    const std::vector<where_it_ran> results = co_await when_all(std::move(all));
    long sum = 0;
    for (const where_it_ran& each : results) sum += each.sum;
    co_return sum;
  };
  std::atomic<bool> over{false};
  std::thread application([&] {
    while (!over) arena.execute([] { sum_below(10'000, 2); });
  });
  const long sum = run(loop, body(in_arena));
  over = true;
  application.join();
  CHECK(sum == 50 * 4'999'950'000);
}

TEST_CASE("an arena for one thread is enough for a pool") {
  tbb::task_arena arena(1);
  pool in_arena(arena);
  CHECK(in_arena.threads() == 1);
  local_loop loop;
  auto visit = [](pool& p, std::thread::id home) -> task<bool> {
    co_await resume_on(p);
    const bool away = this_thread() != home;
    co_await resume_home();
    co_return away;
  };
  CHECK(run(loop, visit(in_arena, this_thread())));
}
