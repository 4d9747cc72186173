// SPDX-License-Identifier: Apache-2.0
// Processes that Slurm's srun started without PMIx.
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include <weft/error.hpp>

#include "wireup/job/job.hpp"

namespace weft::wireup {

void refuse_srun_without_pmix() {
  // Set only in a job step: the script of a batch job is one process, however many tasks the job
  // has asked for.
  const char* tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  if (!tasks || std::string_view(tasks) == "1") return;
  const char* kind = std::getenv("SLURM_MPI_TYPE");
  throw error(errc::unsupported,
              fmt::format("srun started this process as one of {} and without PMIx (--mpi={}), so "
                          "they cannot find each other; use srun --mpi=pmix, with a weft that was "
                          "built with libpmix-dev, or unset SLURM_STEP_NUM_TASKS to run each of "
                          "them alone",
                          tasks, kind ? kind : "none"));
}

}  // namespace weft::wireup
