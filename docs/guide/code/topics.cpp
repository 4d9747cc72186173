// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <weft/weft.hpp>

using namespace weft;
using namespace std::chrono_literals;

struct reading {
  int number;
  double celsius;
};

task<void> measure(context& ctx) {
  publisher<reading> out(ctx, "temperature", {.history = 1});
  while (out.info().subscribers.size() != 2) co_await sleep_for(1ms);
  for (int n = 1; n <= 100; ++n) {
    const reading next{n, 20 + n / 10.0};
    co_await out.publish(next);
  }
  out.close();
  co_await out.closed();  // all that waited has been taken
}

task<void> keep_all(context& ctx, endpoint sensor) {
  subscriber<reading> in(ctx, sensor, "temperature", {.policy = when_full::block});
  double sum = 0;
  while (auto r = co_await in.next()) sum += r->value().celsius;
  std::printf("the mean of all is %.2f\n", sum / 100);
}

task<void> show_latest(context& ctx, endpoint sensor) {
  subscriber<reading> in(ctx, sensor, "temperature",
                         {.policy = when_full::drop_oldest, .depth = 2});
  double last = 0;
  while (auto r = co_await in.next()) {
    last = (*r)->celsius;  // r->missed() of them were dropped in front of it
    co_await sleep_for(10ms);
  }
  std::printf("the last one is %.2f\n", last);
}

task<void> play(context& ctx) {
  group world = ctx.world();
  if (world.rank() == 0) return measure(ctx);
  return world.rank() == 1 ? keep_all(ctx, world[0]) : show_latest(ctx, world[0]);
}

int main() { return run_main(play); }
