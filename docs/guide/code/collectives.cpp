// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <vector>
#include <weft/weft.hpp>

using namespace weft;

task<void> play(context& ctx) {
  group world = ctx.world();
  const int me = int(world.rank());
  const bool first = me == 0;

  int seed = first ? 7 : 0;
  co_await world.broadcast(seed);  // from rank 0

  int total = co_await world.all_reduce(seed + me);
  int largest = co_await world.all_reduce(seed + me, maximum{});
  if (first) std::printf("total %d, largest %d\n", total, largest);

  std::vector<double> column(1000, me);
  co_await world.all_reduce(column);  // position by position, in place
  if (first) std::printf("each element: %.0f\n", column[0]);

  std::vector<int> squares = co_await world.gather(me * me);  // empty but at rank 0
  if (first) std::printf("the last square: %d\n", squares.back());

  std::vector<int> mine{me, me + 10}, all(mine.size() * world.size());
  co_await world.all_gather(mine, all);
  if (first) std::printf("the last pair: %d %d\n", all[6], all[7]);

  // Groups of their own, with tags and collectives of their own.
  group half = co_await world.split(me % 2);
  int evens = co_await half.all_reduce(me);
  if (first) std::printf("%u even ranks, their sum is %d\n", half.size(), evens);
}

int main() { return run_main(play); }
