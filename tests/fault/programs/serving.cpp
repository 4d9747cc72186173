// SPDX-License-Identifier: Apache-2.0
// One of two processes that call each other.
//   serving ADDRESS serve   has handlers that do not answer, until the other side has left
//   serving ADDRESS call    calls such handlers
// ADDRESS is the other process's listener.
#include <iostream>
#include <string>

#include "../serving.hpp"

namespace {

using namespace weft;

task<void> play(context& ctx, std::string address, bool serves) {
  fault::serving::slow_service handlers(ctx);
  const handler note = ctx.on<void()>(fault::serving::began, [] {});
  endpoint there = co_await ctx.connect(address);
  fault::serving::three_calls calls;
  if (!serves) co_await fault::serving::make_calls(there, calls);
  co_await there.closed();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: serving ADDRESS serve|call\n";
    return 2;
  }
  try {
    context ctx;
    run(ctx, play(ctx, argv[1], argv[2] == std::string("serve")));
    return 0;
  } catch (const std::exception& e) {
    std::cerr << "serving: " << e.what() << '\n';
    return 1;
  }
}
