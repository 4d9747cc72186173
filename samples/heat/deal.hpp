// SPDX-License-Identifier: Apache-2.0
// Sends the plate's rows from rank 0 to the workers and back.
#pragma once

#include <weft/weft.hpp>

#include "plan.hpp"
#include "strip.hpp"

namespace heat {

/// Rank 0's side: sends each worker its rows in one message; copies rank 0's own rows to `mine`.
weft::task<void> deal_out(weft::group world, plan p, strip& plate, strip& mine);

/// The way back: receives every worker's rows into their place in the plate.
weft::task<void> collect(weft::group world, plan p, strip& plate, strip& mine);

/// Rank 0 sends the same small value to all others.
template <class T>
weft::task<void> tell_all(weft::group world, T value, weft::tag t) {
  weft::scope telling;
  for (weft::peer_id r = 1; r < world.size(); ++r) telling.start(world[r].send(bytes_of(value), t));
  co_await telling.join();
}

}  // namespace heat
