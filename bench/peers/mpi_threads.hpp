// SPDX-License-Identifier: Apache-2.0
// Several threads of each of two ranks, at once: MPI_THREAD_MULTIPLE.
#pragma once

#include <cstddef>
#include <vector>

#include "support/job.hpp"

namespace weft::bench::mpi {

/// Of all threads of rank 0 together; empty on rank 1.
struct thread_samples {
  std::vector<double> half_rtt_us;  ///< of a pair, while the others do the same
  std::vector<double> mmsg_s;       ///< of all pairs
};

/// Thread k of rank 0 with thread k of rank 1: the loops of weft-bench threads. After
/// MPI_Init_thread with MPI_THREAD_MULTIPLE; both ranks call it.
/// \param own_communicators each thread has one: an MPI may keep them apart
thread_samples threads(std::size_t count, bool own_communicators, const job& what);

}  // namespace weft::bench::mpi
