// SPDX-License-Identifier: Apache-2.0
// Many runs: collectives of several sizes and numbers of ranks, by one or all algorithms.
#pragma once

#include <functional>
#include <vector>

#include "scale/bounds.hpp"
#include "scale/job.hpp"
#include "scale/work.hpp"

namespace scale {

/// What to run.
struct wishes {
  network machine = network::rdma();
  std::vector<peer_id> ranks{8, 64, 512, 4096};
  std::vector<work> works = usual_works();
  bool all_algorithms = false;                     ///< not only those that weft chooses
  std::size_t most_memory = std::size_t{9} << 30;  ///< bytes of all ranks; longer runs are left out
  std::size_t most_messages = 5'000'000;           ///< of an algorithm that is not chosen

  static std::vector<work> usual_works();
};

/// One line of the table.
struct finding {
  work what;
  peer_id ranks = 0;
  std::string_view how;
  bool chosen = false;
  double predicted = 0;  ///< µs, by the cost model of the choice
  outcome cost;          ///< of a second run, when all connections are there
  lower_bound bound;
  known_peers known;  ///< after the first run

  double ratio() const noexcept { return cost.microseconds / bound.least(); }
};

/// Each finding comes from a job of its own. \param found called with each
void survey(const wishes& w, const std::function<void(const finding&)>& found);

}  // namespace scale
