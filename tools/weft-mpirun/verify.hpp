// SPDX-License-Identifier: Apache-2.0
// One rank of --verify: an MPI program without a header of MPI, so that weft needs none to be
// built.
#pragma once

namespace weft::mpirun {

/// Sends a mebibyte to the next rank, receives one from the one before, adds numbers up over all
/// ranks, and looks at the results. \returns the exit status
int verify_rank();

}  // namespace weft::mpirun
