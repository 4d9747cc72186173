// SPDX-License-Identifier: Apache-2.0
// Collectives with data that can be checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/detail/collective_ops.hpp>

#include "collectives/select.hpp"
#include "scale/job.hpp"

namespace scale {

using weft::collectives::kind;

/// One collective.
struct work {
  kind what;
  std::size_t bytes;  ///< of one rank's part, a multiple of 8
};

/// How many bytes all ranks need for their data, and for what the algorithm keeps of its own, at
/// most.
std::size_t memory_of(const work& w, peer_id ranks) noexcept;
/// How many messages one rank sends at most, as the algorithms are written.
std::size_t messages_of(kind what, std::string_view how, peer_id ranks) noexcept;

/// The data of all ranks for one collective: different at each rank and at each place.
class exercise {
 public:
  explicit exercise(job& j, const work& w, peer_id root = 0);

  /// Fills the buffers, runs the collective and compares what each rank has got.
  /// \throws std::runtime_error: a rank has got a wrong result
  outcome run();

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
  weft::task<void> perform(peer_id r);

  job& job_;
  const work work_;
  const std::size_t words_;  // of one rank's part
  const peer_id root_;
  std::vector<buffers> ranks_;
};

}  // namespace scale
