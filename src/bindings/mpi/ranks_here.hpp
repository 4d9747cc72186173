// SPDX-License-Identifier: Apache-2.0
// The ranks of an MPI job on this host.
#pragma once

#include <unistd.h>

#include <cstdlib>

namespace weft::mpi {

/// How many there are, as launchers of MPI programs tell it; 0: it is not known.
inline unsigned ranks_here() noexcept {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
    if (const char* text = std::getenv(name))
      return static_cast<unsigned>(std::strtoul(text, nullptr, 10));
  return 0;
}

/// Whether all ranks of the job are on this host. Of a job of Open MPI.
inline bool are_all_here() noexcept {
  const char* const all = std::getenv("OMPI_COMM_WORLD_SIZE");
  return all && ranks_here() == std::strtoul(all, nullptr, 10);
}

/// Whether so many do not have a core each.
inline bool are_crowded(unsigned ranks) noexcept {
  const long cores = ::sysconf(_SC_NPROCESSORS_ONLN);
  return cores > 0 && ranks > static_cast<unsigned long>(cores);
}

}  // namespace weft::mpi
