// SPDX-License-Identifier: Apache-2.0
// hello: every process of the job greets rank 0.    weft-run -n 4 hello
#include <iostream>
#include <string>

#include <weft/weft.hpp>

using namespace weft;

task<void> greet(context& ctx) {
  group world = ctx.world();
  const std::string words = "hello from rank " + std::to_string(world.rank());
  co_await world[0].send_value(tag{1}, words);
  if (world.rank() != 0) co_return;

  for (peer_id i = 0; i < world.size(); ++i) {
    const auto heard = co_await ctx.recv_value<std::string>(tag{1});
    std::cout << heard << '\n';
  }
}

int main() { return run_main(greet); }
