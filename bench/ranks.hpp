// SPDX-License-Identifier: Apache-2.0
// Benchmarks of many ranks: weft-run starts this program once for each.
#pragma once

#include <functional>
#include <vector>

#include "stage.hpp"

namespace weft::bench {

/// How many processes a benchmark is for.
struct ranks_wanted {
  std::vector<int> counts;  ///< measured one after the other, each a job of its own
  peer_id least = 2;        ///< with fewer of them there is nothing to measure
};

/// Runs `act` inside `run()` in each process of a job, placed round the cores. Called outside of a
/// job, this process starts them, by weft-run, which lies beside it, with its own command line, and
/// becomes the last of those; rank 0 has its stdout. For a process with one thread and no context.
/// \throws std::runtime_error
void on_ranks(const settings& chosen, const ranks_wanted& ranks,
              const std::function<task<void>(context&)>& act);

}  // namespace weft::bench
