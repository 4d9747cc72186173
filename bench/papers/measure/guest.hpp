// SPDX-License-Identifier: Apache-2.0
// Commands that need an RDMA device, in one run of a machine that has one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "page/plan.hpp"
#include "page/record.hpp"

namespace weft::bench::page {

/// Whether this machine has one.
bool has_rdma_device();

/// Runs one job here.
record run_job(const job& what);

/// Runs `jobs` by the script `how.guest` (tests/rdma_guest/guest.sh), which leaves their records in
/// `raw`. Records of earlier runs are gone. A guest that hangs is ended: it has to start, or to end
/// a command, within `how.guest_seconds` beyond the limit of the longest command.
/// \return why not all of them were run; empty: they were
std::string run_guest(const std::vector<job>& jobs, const page_options& how,
                      const std::filesystem::path& raw);

}  // namespace weft::bench::page
