// SPDX-License-Identifier: Apache-2.0
// Collectives with data that can be checked.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "collectives/algorithms.hpp"
#include "scale/job.hpp"

namespace scale {

using weft::collectives::algorithm;
using weft::collectives::kind;

/// One collective.
struct work {
  kind what;
  std::size_t bytes;  ///< of one rank's part, a multiple of 8
};

/// The algorithm that weft chooses for it.
algorithm choice_of(const work& w, const job& j);
/// How many bytes all ranks need for their data, and for what the algorithm keeps of its own, at
/// most.
std::size_t memory_of(const work& w, peer_id ranks) noexcept;
/// How many messages one rank sends at most, as the algorithms are written.
std::size_t messages_of(kind what, algorithm how, peer_id ranks) noexcept;

/// The data of all ranks for one collective: different at each rank and at each place.
class exercise {
 public:
  exercise(job& j, const work& w);

  /// Fills the buffers, runs the collective and compares what each rank has got.
  /// \param how the algorithm. The one that weft would choose runs by the function that chooses.
  /// \throws std::runtime_error: a rank has got a wrong result
  outcome run(algorithm how);

 private:
  using word = std::uint64_t;
  struct buffers {
    std::vector<word> out, in;
    weft::detail::reduction sum;
  };

  word value(peer_id from, peer_id to, std::size_t i) const noexcept;
  word expected(peer_id r, std::size_t i) const noexcept;
  void fill();
  void check() const;
  weft::task<void> chosen(peer_id r);
  weft::task<void> forced(peer_id r, algorithm how);

  job& job_;
  const work work_;
  const std::size_t words_;  // of one rank's part
  std::vector<buffers> ranks_;
};

}  // namespace scale
