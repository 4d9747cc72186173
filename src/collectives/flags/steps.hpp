// SPDX-License-Identifier: Apache-2.0
// The collectives by flags, for the tables in algorithms/.
#pragma once

#include "collectives/flags/flag_round.hpp"

namespace weft::collectives {

// moves.cpp
extern const flag_steps barrier_by_flags, broadcast_by_flags, gather_by_flags, scatter_by_flags,
    all_gather_by_flags, all_to_all_by_flags;

// reductions.cpp. Every member that has the result reduces all; or, in parts, each member a part
// for all.
extern const flag_steps reduce_by_flags, all_reduce_by_flags, scan_by_flags;
extern const flag_steps reduce_in_parts, all_reduce_in_parts;

}  // namespace weft::collectives
