// SPDX-License-Identifier: Apache-2.0
// Starts the processes of a run, watches them, and judges.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "settings.hpp"

namespace hostile {

struct verdict {
  std::vector<std::string> violations;
  std::uint64_t played = 0;      ///< seeds
  std::uint64_t at = 0;          ///< the seed in which the first violation was seen
  std::uint64_t rounds = 0;      ///< round trips of honest peers
  std::uint64_t requesters = 0;  ///< that the victim accepted
  double slowest = 0;      ///< of these round trips, milliseconds that only the victim explains
  bool only_slow = false;  ///< the only violation is a round trip that took too long
  bool good() const noexcept { return violations.empty(); }
};

/// One victim under all seeds of `s`.
/// \param shown called now and then with the verdict so far
verdict run(const settings& s, const std::function<void(const verdict&)>& shown = {});

}  // namespace hostile
