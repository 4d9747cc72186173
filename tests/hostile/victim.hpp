// SPDX-License-Identifier: Apache-2.0
// The process that is attacked, while it serves honest peers.
#pragma once

#include "board.hpp"
#include "settings.hpp"

namespace hostile {

/// Runs until it is told to end. \return its exit status
int be_victim(board& on, const settings& s);

}  // namespace hostile
