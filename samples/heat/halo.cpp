// SPDX-License-Identifier: Apache-2.0
#include "halo.hpp"

namespace heat {

using namespace weft;

namespace {

/// The neighbours: the workers with the adjacent rows; empty at the plate's edge.
struct neighbours {
  endpoint above;
  endpoint below;
};

task<seconds> step(const neighbours& next_to_us, strip& mine, float rate) {
  const std::size_t height = mine.height();
  scope under_way;

  if (const endpoint& above = next_to_us.above) {
    under_way.start(above.recv_value(tags::downwards, mine.ghost_above()));
    under_way.start(above.send_value(tags::upwards, mine.rows(0, 1)));
  } else {
    mine.mirror_above();
  }
  if (const endpoint& below = next_to_us.below) {
    under_way.start(below.recv_value(tags::upwards, mine.ghost_below()));
    under_way.start(below.send_value(tags::downwards, mine.rows(height - 1, height)));
  } else {
    mine.mirror_below();
  }

  if (height > 2) mine.relax(1, height - 1, rate);  // the rows that need no neighbour's rows

  const clock::time_point computed = clock::now();
  co_await under_way.join();
  const seconds waited = clock::now() - computed;

  mine.relax(0, 1, rate);
  if (height > 1) mine.relax(height - 1, height, rate);
  mine.advance();
  co_return waited;
}

}  // namespace

task<seconds> diffuse(group world, plan p, strip& mine, progress_line& line) {
  neighbours next_to_us;
  if (world.rank() > 0) next_to_us.above = world[world.rank() - 1];
  if (world.rank() + 1 < p.workers()) next_to_us.below = world[world.rank() + 1];

  seconds waited{0};
  for (std::uint32_t done = 0; done < p.steps;) {
    waited += co_await step(next_to_us, mine, p.rate);
    line.show(++done);
  }
  co_return waited;
}

}  // namespace heat
