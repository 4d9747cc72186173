// SPDX-License-Identifier: Apache-2.0
// Benchmarks of many ranks: weft-run starts this program once for each.
#pragma once

#include <optional>

namespace weft::bench {

/// Which rank this process is; nothing: no launcher has started it.
std::optional<int> own_rank();

/// Replaces this process with weft-run, which lies beside it and starts the same command line as so
/// many ranks. \throws std::runtime_error
[[noreturn]] void become_ranks(int count);

}  // namespace weft::bench
