// SPDX-License-Identifier: Apache-2.0
// Every rank sends to every rank, itself included, and checks the received messages.
//   weft-run -n 4 all_to_all           all ranks end well
//   weft-run -n 4 all_to_all mortal    rank 1 kills itself; the others notice, and go on without it
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;
using bytes = std::vector<std::byte>;

constexpr peer_id mortal = 1;

bytes message(peer_id from, peer_id to, std::size_t size) {
  bytes b(size);
  for (std::size_t i = 0; i < size; ++i) b[i] = static_cast<std::byte>(i * 31 + from * 7 + to);
  return b;
}

/// All ranks but `without` exchange messages of every size, `round` after `round`.
task<void> exchange(context& ctx, peer_id without) {
  const group world = ctx.world();
  for (const std::size_t size : {0u, 8u, 1000u, 60'000u, 1'000'000u}) {
    std::vector<bytes> out(world.size()), in(world.size());
    scope all;
    for (peer_id r = 0; r < world.size(); ++r) {
      if (r == without) continue;
      out[r] = message(world.rank(), r, size);
      in[r].resize(size);
      all.start(world[r].recv(in[r], tag{size}));
      all.start(world[r].send(out[r], tag{size}));
    }
    co_await all.join();
    for (peer_id r = 0; r < world.size(); ++r)
      if (r != without && in[r] != message(r, world.rank(), size))
        throw std::logic_error("rank " + std::to_string(world.rank()) +
                               " got a wrong message from rank " + std::to_string(r));
  }
}

task<void> play(context& ctx, bool one_dies) {
  const group world = ctx.world();
  co_await exchange(ctx, no_peer);
  if (!one_dies) co_return co_await world.barrier();
  if (world.rank() == mortal) ::kill(::getpid(), SIGKILL);
  bytes in(10);
  const auto r = co_await as_result(world[mortal].recv(in, tag{99}));
  if (r.code() != errc::peer_lost) throw std::logic_error("a rank that was killed is lost");
  const auto s = co_await as_result(world[mortal].send_synchronous(in, tag{99}));
  if (s.code() != errc::peer_lost) throw std::logic_error("and nothing can be sent to it");
  co_await exchange(ctx, mortal);
  std::cout << "rank " << world.rank() << " goes on" << std::endl;
}

}  // namespace

int main(int argc, char**) {
  context ctx;
  run(ctx, play(ctx, argc > 1));
}
