// SPDX-License-Identifier: Apache-2.0
// hello: every process of the job greets rank 0.    weft-run -n 4 hello
#include <array>
#include <iostream>
#include <string>

#include <weft/weft.hpp>

using namespace weft;

task<void> greet(context& ctx) {
  group world = ctx.world();
  const std::string words = "hello from rank " + std::to_string(world.rank());
  co_await world[0].send(std::as_bytes(std::span(words)), tag{1});
  if (world.rank() != 0) co_return;

  std::array<char, 64> heard;
  for (peer_id i = 0; i < world.size(); ++i) {
    received r = co_await ctx.recv(std::as_writable_bytes(std::span(heard)), tag{1});
    std::cout << std::string_view(heard.data(), r.size) << '\n';
  }
}

int main() {
  context ctx;
  run(ctx, greet(ctx));
}
