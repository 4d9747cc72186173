// SPDX-License-Identifier: Apache-2.0
// The benchmarks of weft-bench with a library that has no launcher: the program forks its two
// processes itself, and passes the listen address of one to the other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/job.hpp"
#include "support/pair.hpp"
#include "support/pattern.hpp"
#include "support/plan.hpp"

namespace weft::bench {

/// One of the two processes.
struct pair_side {
  forked_member& me;
  const job& what;   ///< its bench is "latency", "rate" or "bandwidth"
  std::size_t size;  ///< bytes of a message
  std::string host;  ///< rank 0 listens there: an IPv4 address in digits

  int rank() const noexcept { return me.rank(); }
  /// The number of samples, as for all contestants.
  plan loops() const {
    return what.bench == "latency" ? latency_plan(size, what.effort)
                                   : window_plan(size, what.window, what.effort);
  }
  /// Rank 0: the port that it listens at. Wakes rank 1.
  void tell(std::uint16_t port) const;
  /// Rank 1: waits for that port.
  std::uint16_t told() const;
};

/// The samples as in loops.cpp of the benchmark; stamps are checked as messages arrive.
void fill_all(heap_buffers& buffers);
void verify_all(heap_buffers& buffers, std::size_t used);

/// The whole program. `measure` connects, runs the loops and reports its samples with
/// forked_member::report on rank 0: half round trips in microseconds, or messages in a microsecond.
/// \param library its name and version
int pair_peer_main(int argc, char** argv, const std::string& library,
                   const std::function<void(pair_side&)>& measure);

}  // namespace weft::bench
