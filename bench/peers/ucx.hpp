// SPDX-License-Identifier: Apache-2.0
// UCX itself, without an MPI above it: its own program ucx_perftest.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "output/json_lines.hpp"
#include "support/job.hpp"

namespace weft::bench {

struct ucx_installation {
  std::filesystem::path perftest;
  std::string name;  ///< "UCX 1.18.1"
};

/// \throws std::runtime_error: prefix/bin has no ucx_perftest that runs
ucx_installation find_ucx(const std::filesystem::path& prefix);

/// Half round trips, and warm messages one way, of two processes on one host.
bool ucx_takes_part(const job& what);

/// Its lines. tag_lat has the median and the mean of each round trip; tag_bw has `what.window`
/// sends outstanding, no acknowledgement and no median, so its figure is the mean. \throws
/// std::runtime_error with cause and command
std::vector<json> run_ucx(const ucx_installation& which, const job& what,
                          const std::string& transport);

}  // namespace weft::bench
