// SPDX-License-Identifier: Apache-2.0
#include "stage/launcher.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace weft::bench {
namespace {

/// The first of these variables that is set, as a number.
template <class... Names>
std::optional<int> number_in(Names... names) {
  for (const char* name : {names...})
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return {};
}

bool is_set(const char* name) { return std::getenv(name) != nullptr; }

/// Of srun without PMIx, in a step of several processes.
bool in_step_of_several() {
  const char* const tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  return tasks != nullptr && std::string_view(tasks) != "1";
}

}  // namespace

std::string launcher::start(unsigned count) const {
  const char* const pmix = name == "srun" ? " --mpi=pmix" : "";
  return fmt::format("{}{} -n {} weft-bench ...", name, pmix, count);
}

std::string launcher::start_together(unsigned count) const {
  std::string how = start(count);
  if (name != "weft-run")
    how += fmt::format(
        "; if that is how they were started, {} and this weft have no PMIx in common (`weft-info "
        "--version` lists the parts of weft)",
        name);
  return how;
}

std::optional<launcher> launched_by() {
  // As a context does: weft-run under another launcher is the launcher.
  if (const auto rank = number_in("WEFT_RANK"))
    return launcher{"weft-run", *rank, number_in("WEFT_SIZE").value_or(0)};
  if (!is_set("PMIX_RANK") && !is_set("PMI_RANK") && !in_step_of_several()) return {};
  const auto place = number_in("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID",
                               "PMIX_RANK", "PMI_RANK");
  const bool by_srun = is_set("SLURM_STEP_NUM_TASKS") && !is_set("OMPI_COMM_WORLD_SIZE");
  const auto all = number_in("OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "PMI_SIZE");
  return launcher{by_srun ? "srun" : "mpirun", place.value_or(0), all.value_or(0)};
}

void refuse_launcher(const std::string& subcommand) {
  const auto found = launched_by();
  if (!found || found->processes == 1) return;
  throw std::runtime_error(
      fmt::format("{0} is not for ranks of a job, each of which would do all of it: run it without "
                  "{1}",
                  subcommand, found->name));
}

}  // namespace weft::bench
