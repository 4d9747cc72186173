// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "output/json_lines.hpp"
#include "support/job.hpp"

namespace weft::bench::mpi {

/// Solves the problem of a kernel several times on all ranks, which all call this, and verifies the
/// last solution: against the known answer, and, on more than one rank, against the solution of
/// rank 0 alone. Both outside of the measured time.
/// \return on rank 0 the line, on the others only "verified": whether the solution is right. If
/// not, rank 0 has the reason in "wrong". \throws std::invalid_argument for a kernel or class that
/// does not exist, or cannot be divided
json solve_kernel(const std::string& name, const job& what, const line_head& head);

}  // namespace weft::bench::mpi
