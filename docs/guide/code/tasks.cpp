// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>
#include <weft/weft.hpp>

using namespace weft;

constexpr tag question{1}, answer{2};

task<int> ask(endpoint helper, int number) {
  co_await helper.send_value(question, number);
  co_return co_await helper.recv_value<int>(answer);
}

task<void> help(endpoint customer, int questions) {
  for (int i = 0; i != questions; ++i) {
    int number = co_await customer.recv_value<int>(question);
    co_await customer.send_value(answer, number * number);
  }
}

task<void> play(context& ctx) {
  group world = ctx.world();
  if (world.rank() != 0) co_return co_await help(world[0], 3);

  // One after the other.
  int one = co_await ask(world[1], 1);
  int two = co_await ask(world[2], 2);
  std::printf("%d %d\n", one, two);

  // Both at once, and their values.
  auto [three, four] = co_await when_all(ask(world[1], 3), ask(world[2], 4));
  std::printf("%d %d\n", three, four);

  // As many as there are, each value as it comes.
  int sum = 0;
  scope asking;
  for (peer_id r = 1; r != world.size(); ++r)
    asking.start(ask(world[r], 10), [&sum](int squared) { sum += squared; });
  co_await asking.join();
  std::printf("%d\n", sum);
}

int main() { return run_main(play); }
