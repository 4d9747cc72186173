// SPDX-License-Identifier: Apache-2.0
// Benchmarks of many ranks: weft-run starts this program once for each.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <vector>

#include "stage/stage.hpp"

namespace weft::bench {

/// The numbers of processes of a benchmark.
struct ranks_wanted {
  std::vector<int> counts;  ///< measured one after the other, each in its own job
  peer_id least = 2;        ///< the smallest meaningful number
};

/// Runs `act` inside `run()` in each process of a job, placed round the cores: of weft-run, or of a
/// launcher with PMIx, whose number of ranks then counts in place of `counts`. Outside of a job,
/// this process starts the jobs by weft-run (in the same folder) with its own command line, and
/// becomes the last weft-run; rank 0 has its stdout. For a process with one thread and no context.
/// \throws std::runtime_error
void on_ranks(const settings& chosen, const ranks_wanted& ranks,
              const std::function<task<void>(context&)>& act);

/// Whether a subcommand calls on_ranks: it has the option --ranks.
bool has_ranks(const CLI::App& app);

}  // namespace weft::bench
