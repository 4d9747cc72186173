// SPDX-License-Identifier: Apache-2.0
// Many ranks meet at rank 0: how long it takes, and what it costs rank 0.
#pragma once

#include <cstdint>
#include <string>

#include <weft/message.hpp>

namespace scale {

struct meeting_cost {
  weft::peer_id ranks = 0;
  double seconds = 0;          ///< until all ranks know where all others are
  double processor = 0;        ///< of rank 0, in seconds
  double leaving = 0;          ///< of its processor, while all others leave
  std::uint64_t frames = 0;    ///< that rank 0 has sent and received, besides the proofs of the key
  std::uint64_t bytes = 0;     ///< in these
  std::uint64_t resident = 0;  ///< by how many bytes rank 0's process has grown at most
};

/// Rank 0 is a process of its own; the others are a thread of this one, with a connection each over
/// the loopback. All begin at once. \throws std::runtime_error when not all of them meet
meeting_cost meet(weft::peer_id ranks);

std::string meeting_head();
std::string meeting_line(const meeting_cost& c);

}  // namespace scale
