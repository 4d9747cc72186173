// SPDX-License-Identifier: Apache-2.0
// pool_and_messages: ranks integrate a function together. The threads of the program's own oneTBB
// arena compute the next piece while an all_reduce adds up the last one.
//
//   weft-run -n 4 pool_and_messages
#include <fmt/format.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/task_arena.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <stdexcept>

#include <weft/weft.hpp>

namespace {

using namespace weft;

constexpr int pieces = 50;
constexpr std::int64_t points = 200'000;  // of each rank, in each piece

/// The integral of 4 / (1 + x^2) over this rank's part of a piece, on the pool.
/// \param part numbers the parts of all pieces and ranks
task<double> integrate(pool& where, std::int64_t part, std::int64_t parts) {
  co_await resume_on(where);
  const double width = 1.0 / (static_cast<double>(parts) * points);
  const double sum = tbb::parallel_reduce(
      tbb::blocked_range<std::int64_t>(part * points, (part + 1) * points, 10'000), 0.0,
      [width](const tbb::blocked_range<std::int64_t>& some, double so_far) {
        for (std::int64_t i = some.begin(); i != some.end(); ++i) {
          const double x = (static_cast<double>(i) + 0.5) * width;
          so_far += 4 / (1 + x * x);
        }
        return so_far;
      },
      std::plus<>());
  co_await resume_home();
  co_return sum* width;
}

/// While the pool computes a piece, the thread inside run() moves the sums of the one before.
task<double> work(group world, pool& where) {
  const std::int64_t ranks = world.size(), me = world.rank();
  double mine = co_await integrate(where, me, pieces * ranks);
  double total = 0;
  for (int piece = 1; piece != pieces; ++piece) {
    const auto [next, sum] = co_await when_all(integrate(where, piece * ranks + me, pieces * ranks),
                                               world.all_reduce(mine));
    total += sum;
    mine = next;
  }
  const double last = co_await world.all_reduce(mine);
  co_return total + last;
}

}  // namespace

int main() {
  try {
    tbb::task_arena arena;  // a program with its own arena uses that one for everything
    pool in_arena(arena);
    context ctx;
    group world = ctx.world();
    const double pi = run(ctx, work(world, in_arena));
    if (std::abs(pi - std::numbers::pi) > 1e-10) throw std::runtime_error("a wrong sum");
    if (world.rank() == 0)
      fmt::print("pi is {:.10f}: {} ranks, {} threads each\n", pi, world.size(),
                 in_arena.threads());
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "pool_and_messages: {}\n", e.what());
    return 1;
  }
}
