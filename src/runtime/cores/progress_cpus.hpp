// SPDX-License-Identifier: Apache-2.0
// Where a progress thread runs, as a pure function.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/os/cpu_set.hpp"

namespace weft::runtime {

/// What a process knows about the cores of its host and about who is bound to them.
struct core_use {
  cpu_set allowed;  ///< its cgroup's cpuset, as far as the launcher itself may use it
  cpu_set own;      ///< where the threads of this process are bound
  bool launched;    ///< a launcher started this process, and bound it, if it is bound
  /// How many ranks of the job run on this host, this one too, and how many of them were found.
  std::size_t ranks, found;
  /// Where those that were found, and other peers of this host, are bound, this process too. Empty
  /// sets: not to be read.
  std::vector<cpu_set> bound;
  /// Cores beside `own`, from the nearest on: SMT siblings, the same L3, the same NUMA node.
  std::vector<cpu_set> near;
};

/// Where the progress thread may run. Empty: where the thread that made the context may
/// (`inherit`).
struct progress_cpus {
  cpu_set cpus;
  std::string reason;
  bool settled;  ///< false: ranks have not begun yet, or are not bound yet, so look again
  friend bool operator==(const progress_cpus&, const progress_cpus&) = default;
};

/// WEFT_PROGRESS_CPUS=auto. A progress thread on its rank's core takes that core from the
/// computation at each step; on a core that no rank is bound to, a step costs the computation
/// nothing. So it runs on all such cores, or on the nearest ones if these are enough for all ranks
/// that are as near. Where free cores are fewer than ranks it stays: two progress threads that wait
/// for one core cost more than a switch. \throws std::bad_alloc
progress_cpus choose_progress_cpus(const core_use& now);

}  // namespace weft::runtime
