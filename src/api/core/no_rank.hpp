// SPDX-License-Identifier: Apache-2.0
// The error for a rank that a group does not have.
#pragma once

#include "api/core/core.hpp"

namespace weft::detail {

/// Names the cause and the cure: a program that no launcher started is alone. Any thread.
/// \param size of the group
error no_such_rank(core& c, peer_id rank, peer_id size);

}  // namespace weft::detail
