// SPDX-License-Identifier: Apache-2.0
#include "deal.hpp"

#include <algorithm>

namespace heat {

using namespace weft;

namespace {

std::span<float> share(strip& plate, const plan& p, peer_id worker) {
  return plate.rows(p.first_row(worker), p.first_row(worker + 1));
}

}  // namespace

task<void> deal_out(group world, plan p, strip& plate, strip& mine) {
  scope dealing;
  for (peer_id w = 1; w < p.workers(); ++w)
    dealing.start(world[w].send_value(tags::rows, share(plate, p, w)));
  std::ranges::copy(share(plate, p, 0), mine.rows(0, mine.height()).begin());
  co_await dealing.join();
}

task<void> collect(group world, plan p, strip& plate, strip& mine) {
  scope collecting;
  for (peer_id w = 1; w < p.workers(); ++w)
    collecting.start(world[w].recv_value(tags::rows, share(plate, p, w)));
  std::ranges::copy(mine.rows(0, mine.height()), share(plate, p, 0).begin());
  co_await collecting.join();
}

}  // namespace heat
