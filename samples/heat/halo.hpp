// SPDX-License-Identifier: Apache-2.0
// One step of the diffusion: rows travel between neighbours while the inner rows are computed.
#pragma once

#include <chrono>

#include <weft/weft.hpp>

#include "plan.hpp"
#include "progress_line.hpp"
#include "strip.hpp"

namespace heat {

using clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

/// Computes a worker's rows through all steps of the plan.
/// \param world  the job; our rank is one of the plan's workers
/// \param p      the plan
/// \param mine   the worker's rows; must live until the task has ended
/// \param line   updated after each step; must live as long
/// \return the time in which the worker waited for its neighbours instead of computing
weft::task<seconds> diffuse(weft::group world, plan p, strip& mine, progress_line& line);

}  // namespace heat
