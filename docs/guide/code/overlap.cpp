// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <vector>
#include <weft/weft.hpp>

using namespace weft;
using clock_type = std::chrono::steady_clock;

constexpr tag halves{1};

double compute(int rounds) {
  double x = 1;
  for (int i = 0; i != rounds; ++i) x = x * 0.999999 + 1e-6 / x;
  return x;
}

double milliseconds_since(clock_type::time_point start) {
  return std::chrono::duration<double, std::milli>(clock_type::now() - start).count();
}

task<void> play(context& ctx) {
  group world = ctx.world();
  endpoint other = world[1 - world.rank()];
  std::vector<double> mine(500'000, world.rank()), theirs(mine.size());

  for (int round = 0; round != 3; ++round) {
    co_await world.barrier();
    scope under_way;
    under_way.start(other.recv_value(halves, theirs));
    under_way.start(other.send_value(halves, mine));

    auto start = clock_type::now();
    double x = compute(50'000'000);  // no call into weft
    double computed = milliseconds_since(start);
    co_await under_way.join();
    double all = milliseconds_since(start);
    if (world.rank() == 0)
      std::printf("computed %.1f ms (%.3f), then waited %.3f ms for 4 MB each way\n", computed, x,
                  all - computed);
  }
}

int main() { return run_main(play); }
