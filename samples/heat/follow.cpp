// SPDX-License-Identifier: Apache-2.0
#include "halo.hpp"
#include "job.hpp"
#include "plan.hpp"

namespace heat {

using namespace weft;

task<int> follow(group world) {
  const endpoint leader = world[0];
  plan all;
  co_await world.broadcast(all);

  if (const peer_id rank = world.rank(); rank < all.workers()) {
    strip mine(all.width, all.channels, all.first_row(rank + 1) - all.first_row(rank));
    co_await leader.recv_value(tags::rows, mine.rows(0, mine.height()));
    progress_line silent(progress_line::when::never, all.steps);
    co_await diffuse(world, all, mine, silent);
    co_await leader.send_value(tags::rows, mine.rows(0, mine.height()));
  }

  int status = 1;
  co_await world.broadcast(status);
  co_return status;
}

}  // namespace heat
