// SPDX-License-Identifier: Apache-2.0
// Threads of one process that exchange messages at once, each by a lane of its own or all by one.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>
#include <weft/weft.hpp>

namespace weft::bench {

/// A thread and its partner, which is a thread of this process or of the other one.
struct team_thread {
  context* lane = nullptr;  ///< where it runs; several threads may have the same
  endpoint partner = {};
  tag out, in;        ///< of the pair alone, and of one direction: its partner's are the reverse
  bool leads = true;  ///< sends first; its partner answers
  std::optional<std::size_t> core = {};  ///< index among the allowed cores; empty: on any
};

/// What each thread does: equal numbers on both sides.
struct team_plan {
  std::size_t size = 8;
  std::size_t window = 64;
  std::size_t batches = 15;
};

/// What all threads of this process together have done.
struct team_samples {
  std::vector<double> half_rtt_us;  ///< of a pair, while the others do the same; one for each batch
  std::vector<double> mmsg_s;       ///< of all pairs together; one for each batch
  double switches_per_kmsg = 0;     ///< times that a thread of this process gave its core away, or
                                    ///< lost it, in 1000 messages of the windows
};

/// Runs the threads to their end. \param pairs in the job: of two threads each
/// \throws what one of them throws
team_samples run_team(const std::vector<team_thread>& threads, const team_plan& what,
                      std::size_t pairs);

}  // namespace weft::bench
