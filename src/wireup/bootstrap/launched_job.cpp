// SPDX-License-Identifier: Apache-2.0
#include "wireup/bootstrap/launched_job.hpp"

#include <weft/error.hpp>

namespace weft::wireup {

tcp_settings launch_terms::way() const {
  tcp_settings to_root;
  to_root.key = key;
  to_root.peer_timeout = peer_timeout;
  to_root.names = socket_names(socket_dir, !key.empty());
  to_root.encryption = std::make_shared<encryption>(tls);
  return to_root;
}

std::unique_ptr<job> launched_job(const launch_terms& terms) {
  const surroundings around = surroundings::of_process();
  for (const starter by : starters_of(around)) {
    if (by == starter::weft_run) return weft_run_job(terms.way(), terms.reports);
    if (by == starter::pmix) {
      if (auto job = pmix_job(terms.key, terms.reports)) return job;
      continue;  // weft was built without it
    }
    const given_rank given = rank_from(by, around);
    return given.size == 1 ? nullptr : met_job(given, terms);
  }
  const bool ranked = around.variable("WEFT_RANK").has_value();
  if (ranked || (around.variable("WEFT_SIZE") && around.variable("WEFT_ROOT")))
    throw error(errc::invalid_argument,
                ranked
                    ? "WEFT_RANK is set, but neither WEFT_JOB, as weft-run sets it, nor WEFT_SIZE "
                      "and WEFT_ROOT are; start the program with weft-run, set all three, or "
                      "unset WEFT_RANK to run it alone"
                    : "WEFT_SIZE and WEFT_ROOT are set, but WEFT_RANK is not: set it, from 0 to "
                      "WEFT_SIZE - 1, or unset the other two to run the program alone");
  return nullptr;
}

}  // namespace weft::wireup
