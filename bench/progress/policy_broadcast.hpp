// SPDX-License-Identifier: Apache-2.0
// Broadcasts in a group that uses two transports at once, with each order of polling them.
#pragma once

#include <cstddef>
#include <vector>

#include "stage/stage.hpp"

namespace weft::bench {

struct broadcast_request {
  settings chosen;
  std::vector<std::size_t> sizes{8, 1024, 16 << 10, 64 << 10, 256 << 10, 1 << 20};
  int rounds = 7;
};

/// Four ranks on two hosts: `shm` within a host, `tcp` between hosts; figure 6 of the paper on
/// SHIBA. Prints the time of a broadcast for each poll_policy. For a process with one thread and no
/// context. \throws std::runtime_error
void measure_broadcasts(const broadcast_request& wanted);

}  // namespace weft::bench
