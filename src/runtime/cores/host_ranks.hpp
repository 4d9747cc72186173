// SPDX-License-Identifier: Apache-2.0
// Who is bound where on this host: read from /proc and /sys, without a message.
#pragma once

#include <sys/types.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cores/progress_cpus.hpp"
#include "runtime/os/cpu_set.hpp"

namespace weft::runtime {

/// A process's place in a job, by the variables that its launcher gave it.
struct job_place {
  std::string job;   ///< of the launcher that gave it
  std::string rank;  ///< in that job
  friend bool operator==(const job_place&, const job_place&) = default;
};

/// \param environment as in /proc/PID/environ: with a zero behind each variable
/// \return nothing: no launcher that weft knows (weft-run, PMIx) started the process
std::optional<job_place> place_in(std::string_view environment);

/// What sched_setaffinity would grant a thread of this process: its cgroup's cpuset, of which the
/// process's own affinity may be a part. A thread tries it, and ends. Empty: refused.
/// \throws weft::error (system) without a thread
cpu_set allowed_cpus();

/// Where the threads of a process are bound. Threads of weft's, which move, do not count, nor those
/// that may run everywhere beside others that are bound. \param allowed to this process
/// \return `allowed`: no thread is bound; empty: not to be read
cpu_set bound_cpus(pid_t process, const cpu_set& allowed);

/// The ranks of this process's job on this host.
struct host_ranks {
  std::vector<cpu_set> bound;   ///< of each rank that was found; empty: not to be read
  std::set<pid_t> processes{};  ///< theirs
};

/// Where the process may run that started this rank's command: by `taskset` before a launcher a
/// user says where the whole job may run. All cores where that process has no number here. \param
/// own this process's place
cpu_set launcher_cpus(const job_place& own);

/// Finds the processes of this user with the same job in their environment: some tens of
/// microseconds for each process of the host. A rank's command may have several processes: where
/// one of them may run everywhere (a shell around the program), the others count.
/// \param job as this process's place names it \param allowed as bound_cpus
host_ranks find_ranks(const std::string& job, const cpu_set& allowed);

/// Cores near these, from the nearest on: their SMT siblings, those of the same L3, of the same
/// NUMA node, as far as /sys tells. Hwloc knows more and takes milliseconds, for each process.
std::vector<cpu_set> near_cpus(const cpu_set& cpus);

/// All of the above together. Milliseconds on a host with hundreds of processes; some microseconds
/// if this process is not bound.
/// \param here where the thread that made the context runs \param ranks, peers of this host
core_use look_at_cores(const cpu_set& here, std::size_t ranks, const std::set<pid_t>& peers);

}  // namespace weft::runtime
