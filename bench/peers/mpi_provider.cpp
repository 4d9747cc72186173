// SPDX-License-Identifier: Apache-2.0
#include "peers/mpi_provider.hpp"

#include <fstream>
#include <stdexcept>
#include <string>

namespace weft::bench::mpi {

bool weft_is_loaded() {
  std::ifstream maps("/proc/self/maps");
  if (!maps) throw std::runtime_error("cannot read /proc/self/maps, so cannot tell what is loaded");
  for (std::string line; std::getline(maps, line);)
    if (line.find("/libweft-fi.so") != std::string::npos) return true;
  return false;
}

}  // namespace weft::bench::mpi
