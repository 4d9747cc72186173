// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <vector>
#include <weft/weft.hpp>

using namespace weft;
using word = std::uint64_t;

constexpr tag where{1};
constexpr word pieces = 12;

/// Takes pieces of work until there are none.
task<void> work(endpoint owner, remote_region_of<word> board) {
  for (;;) {
    word mine = co_await owner.fetch_add(board[0], 1);
    if (mine >= pieces) co_return;
    co_await owner.put(mine * mine, board[1 + mine], notify{mine});
  }
}

/// Rank 0 is the owner. Its processor time is its own: peers reach the board without it.
task<void> own(group world, const region_of<word>& board) {
  for (peer_id r = 1; r != world.size(); ++r) co_await world[r].send_value(where, board.remote());
  for (word ended = 0; ended != pieces; ++ended) co_await board.notified();
  word sum = 0;
  for (word result : board.elements().subspan(1)) sum += result;
  std::printf("the sum of %d squares is %d\n", int(pieces), int(sum));
}

task<void> play(context& ctx) {
  group world = ctx.world();
  if (world.rank() == 0) {
    region_of<word> board(ctx, 1 + pieces);  // the next piece, then the results
    co_await own(world, board);
    co_await world.barrier();  // the board lives until all have seen its end
  } else {
    auto board = co_await world[0].recv_value<remote_region_of<word>>(where);
    co_await work(world[0], board);
    co_await world.barrier();
  }
}

int main() { return run_main(play); }
