// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft::bench::mpi {

/// Whether weft's libfabric provider is loaded into this process. After MPI_Init it shows whether
/// the launcher's settings took effect.
bool weft_is_loaded();

}  // namespace weft::bench::mpi
