// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <vector>
#include <weft/weft.hpp>

using namespace weft;
using clock_type = std::chrono::steady_clock;

constexpr tag halves{1};

/// Volatile: a compiler could move the computation out of the time that is measured.
void compute(int rounds) {
  volatile double value = 1;
  double x = value;
  for (int i = 0; i != rounds; ++i) x = x * 0.999999 + 1e-6 / x;
  value = x;
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
    compute(10'000'000);  // no call into weft
    double computed = milliseconds_since(start);
    co_await under_way.join();
    double all = milliseconds_since(start);
    if (world.rank() == 0)
      std::printf("computed %.1f ms, then waited %.3f ms for 4 MB each way\n", computed,
                  all - computed);
  }
}

int main() { return run_main(play); }
