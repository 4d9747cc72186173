// SPDX-License-Identifier: Apache-2.0
// Two ranks that wait for what never comes, for tests of dumps. Each prints "stuck" when it does.
//   weft-run -n 2 stuck         rank 0 waits for rank 1, in several ways
//   weft-run -n 2 stuck own     the same, in a program with a handler of its own for SIGQUIT
//   weft-run -n 2 stuck inline  rank 1 hangs in an inline handler that rank 0 has called
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <iostream>
#include <string_view>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;

constexpr tag never{7}, too_long{8}, unmatched{9};
constexpr am silent{3};
constexpr std::size_t longer_than_eager = 1u << 20;

void say_stuck() { std::cout << "stuck" << std::endl; }

task<void> wait_for(event& e) { co_await e.wait(); }

task<void> wait_as_first(context& ctx) {
  const endpoint other = ctx.world()[1];
  const std::vector<std::byte> data(longer_than_eager);
  std::array<std::byte, 64> in;
  std::array<std::byte, 8> reply;
  co_await other.send(const_buffer(data).first(100), unmatched);
  co_await other.recv(mutable_buffer{}, unmatched);  // rank 1 has its handler
  scope all;
  all.start(other.recv(in, never));
  all.start(other.send(data, too_long));
  all.start(other.call(silent, const_buffer{}, reply));
  all.start(ctx.world().barrier());
  say_stuck();
  co_await all.join();
}

task<void> wait_as_second(context& ctx, event& never_set) {
  const endpoint other = ctx.world()[0];
  const handler serving = ctx.on(silent, [&](call) { return wait_for(never_set); });
  co_await other.probe(unmatched);
  co_await other.send(const_buffer{}, unmatched);
  say_stuck();
  co_await never_set.wait();
}

task<void> call_inline(context& ctx) {
  std::array<std::byte, 8> reply;
  co_await ctx.world()[1].call(silent, const_buffer{}, reply);
}

task<void> hang_inline(context& ctx, event& never_set) {
  const handler serving = ctx.on_inline(silent, [](const inline_call&) -> std::size_t {
    say_stuck();
    for (;;) ::pause();
  });
  co_await never_set.wait();
}

extern "C" void own_handler(int) {
  constexpr char text[] = "own handler\n";
  [[maybe_unused]] const auto n = ::write(STDOUT_FILENO, text, sizeof text - 1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "";
  if (how == "own") ::signal(SIGQUIT, &own_handler);
  context ctx;
  event never_set;
  std::cerr << ctx.describe() << std::flush;
  if (how == "inline")
    run(ctx, ctx.world().rank() == 0 ? call_inline(ctx) : hang_inline(ctx, never_set));
  else if (ctx.world().rank() == 0)
    run(ctx, wait_as_first(ctx));
  else
    run(ctx, wait_as_second(ctx, never_set));
}
