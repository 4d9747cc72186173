// SPDX-License-Identifier: Apache-2.0
// Runs the commands of a plan, one after the other, and those that claims need once more.
#pragma once

#include <vector>

#include "page/plan.hpp"
#include "page/record.hpp"

namespace weft::bench::page {

/// Runs each job, or loads its record with `how.keep`, and keeps records in `how.out`/raw. A job
/// that fails or lacks something has a record with the reason. Those of the guest run in one guest,
/// if this machine has no RDMA device itself.
///
/// Then, unless `how.quick`, it runs in rounds what commands_to_repeat() names, until that is
/// nothing or `how.minutes` have passed since the call. Throws std::runtime_error only if files
/// cannot be written.
records run_all(const std::vector<paper>& papers, const std::vector<job>& jobs,
                const page_options& how);

/// The records that earlier runs have kept in `folder`/raw.
records load_all(const std::vector<job>& jobs, const std::filesystem::path& folder);

/// Runs the jobs that run_all wrote to a file for the guest, beside that file.
void run_in_guest(const std::filesystem::path& file);

}  // namespace weft::bench::page
