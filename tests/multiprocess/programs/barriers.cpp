// SPDX-License-Identifier: Apache-2.0
// Ranks meet in a barrier.
//   weft-run -n 5 barriers crowded   more messages of each wait for the next than that one keeps
//   weft-run -n 8 barriers mortal    rank 1 kills itself, and all others learn of it
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;

constexpr std::uint64_t count = 1000;

task<void> crowded(context& ctx) {
  const group world = ctx.world();
  const endpoint next = world[(world.rank() + 1) % world.size()];
  const endpoint last = world[(world.rank() + world.size() - 1) % world.size()];
  const std::vector<std::byte> out(100);
  std::vector<std::byte> in(out.size());
  scope sends;
  for (std::uint64_t i = 0; i != count; ++i) sends.start(next.send(out, tag{i}));
  co_await world.barrier();
  for (std::uint64_t i = 0; i != count; ++i) co_await last.recv(in, tag{i});
  co_await sends.join();
  co_await world.barrier();
}

task<void> mortal(context& ctx) {
  const group world = ctx.world();
  co_await world.barrier();
  // All have left the first one: when a member dies, a barrier that it has left may fail at others.
  if (world.rank() != 1) co_await world[1].send(const_buffer{}, tag{3});
  for (peer_id r = 0; r != world.size() && world.rank() == 1; ++r)
    if (r != 1) co_await world[r].recv(mutable_buffer{}, tag{3});
  if (world.rank() == 1) ::kill(::getpid(), SIGKILL);
  const auto end = co_await as_result(world.barrier());
  if (end.code() == errc::peer_lost)
    std::cout << "rank " << world.rank() << " knows" << std::endl;
  else
    std::cout << "a barrier without rank 1 has ended otherwise" << std::endl;
  // A rank that leaves early has closed, which others could see instead.
  std::byte none[1];
  static_cast<void>(co_await as_result(world[1].recv(none, tag{1})));
  scope sends;
  for (peer_id r = 0; r != world.size(); ++r)
    if (r != 1) sends.start(world[r].send(const_buffer{}, tag{2}));
  for (peer_id r = 0; r != world.size(); ++r)
    if (r != 1) co_await world[r].recv(mutable_buffer{}, tag{2});
  co_await sends.join();
}

}  // namespace

int main(int, char** arguments) {
  options o = options::from_environment();
  o.unexpected_budget = 0;
  context ctx(o);
  const bool dies = std::string(arguments[1]) == "mortal";
  run(ctx, dies ? mortal(ctx) : crowded(ctx));
}
