// SPDX-License-Identifier: Apache-2.0
// What Open MPI 4 does wrong above a provider, and the provider can put right.
#pragma once

namespace weft::ofi {

/// A persistent send of Open MPI 4's `pml cm` sends from the buffer's address on, wherever a
/// datatype without holes has its data: the program gets wrong data and no error. MPI_Alltoallv,
/// MPI_Alltoallw and MPI_Put use such sends, too. In a process of Open MPI 4 they are right from
/// now on; elsewhere, and when called again, this does nothing. docs/mpi.md
/// \returns false, with a warning: this Open MPI 4 is built in a way that is not known here
bool mend_persistent_sends() noexcept;

}  // namespace weft::ofi
