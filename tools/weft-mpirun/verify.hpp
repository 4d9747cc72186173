// SPDX-License-Identifier: Apache-2.0
// One rank of --verify: an MPI program that uses no header of MPI, so that weft builds without an
// MPI.
#pragma once

namespace weft::mpirun {

/// Sends a mebibyte to the next rank, receives one from the previous rank, adds numbers up over all
/// ranks, and checks the results. \returns the exit status
int verify_rank();

}  // namespace weft::mpirun
