// SPDX-License-Identifier: Apache-2.0
#include "support/process_memory.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace weft::bench {

process_memory process_memory::now() {
  std::ifstream file("/proc/self/smaps_rollup");
  process_memory result;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    double kib = 0;
    words >> key >> kib;
    if (key == "Rss:") result.rss = kib;
    if (key == "Pss:") result.pss = kib;
  }
  if (result.rss == 0) throw std::runtime_error("/proc/self/smaps_rollup tells nothing");
  return result;
}

}  // namespace weft::bench
