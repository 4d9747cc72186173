// SPDX-License-Identifier: Apache-2.0
#include "support/process_memory.hpp"

#include <malloc.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace weft::bench {
namespace {

std::uint64_t status_kib(const char* name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name)) return std::stoull(line.substr(line.find(':') + 1));
  throw std::runtime_error("/proc/self/status lacks a line");
}

}  // namespace

memory_peak::memory_peak() {
  ::malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;  // VmHWM begins again
  before_ = status_kib("VmRSS");
}

std::uint64_t memory_peak::kib() const { return status_kib("VmHWM") - before_; }

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
