// SPDX-License-Identifier: Apache-2.0
// One run from one seed, and what the oracle says about it.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "sim/plan.hpp"

namespace sim {

struct verdict {
  std::vector<std::string> violations;  ///< empty: all is well
  std::uint64_t fingerprint = 0;        ///< equal for equal runs, to the last event
  std::uint64_t events = 0;
  std::uint64_t frames = 0;
  std::uint64_t most_work = 0;  ///< in one pass, in steps
  std::size_t messages = 0;     ///< begun
  std::size_t delivered = 0;    ///< of these messages
  nanoseconds virtual_time{0};

  bool good() const noexcept { return violations.empty(); }
};

/// \param trace where every event is written; null: nowhere
verdict run(const wishes& w, std::FILE* trace = nullptr);

}  // namespace sim
