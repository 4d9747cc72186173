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

}  // namespace heat
