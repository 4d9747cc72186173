// SPDX-License-Identifier: Apache-2.0
#include "job.hpp"
#include "support/catch.hpp"

namespace fault {

void job::end_well() {
  notes().please_end = 1;
  const int status = launcher().wait();
  CAPTURE(launcher().output());
  CHECK(status == 0);
  for (const rank_notes& r : notes().rank) {
    CHECK(r.ended_well == 1);
    for (const auto& lost : r.lost) CHECK(lost == 0);
  }
}

}  // namespace fault
