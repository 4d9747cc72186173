// SPDX-License-Identifier: Apache-2.0
// The core of each measured process. Every contestant places itself with these functions, so that
// the binding rules of launchers do not affect the comparison.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace weft::bench {

/// The cores that this process may use (cpusets and taskset included), ascending. Throws
/// std::system_error.
std::vector<int> allowed_cores();

/// The two cores of a pair: the first two allowed. Throws std::runtime_error, with the cure, when
/// there is only one: two spinning processes on one core measure the scheduler.
std::array<int, 2> pair_cores();

/// Binds the calling thread, and every thread that it starts later, to `core`. Throws
/// std::system_error.
void pin_to(int core);

/// Binds the calling thread, and what it starts later, to the first `count` allowed cores. Throws
/// std::system_error.
void stay_on_first(std::size_t count);

/// Binds rank `rank` of a job: rank 0 to the first allowed core, rank 1 to the second, and so on,
/// in turn.
void pin_rank(int rank);

}  // namespace weft::bench
