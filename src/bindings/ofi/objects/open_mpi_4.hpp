// SPDX-License-Identifier: Apache-2.0
// What Open MPI 4 does wrong above a provider, and a library before it puts right.
#pragma once

namespace weft::ofi {

/// A persistent send of Open MPI 4 sends wrong data without an error, unless
/// libweft-open-mpi-4.so is in the process (docs/mpi.md). So without it nothing is sent.
/// \returns false, with a line on stderr the first time, in a process of Open MPI 4 without it
bool persistent_sends_are_right() noexcept;

}  // namespace weft::ofi
