// SPDX-License-Identifier: Apache-2.0
// Clocks of several hosts, as the traces of their ranks tell how far they are apart.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "part.hpp"

namespace weft::traces {

/// How the clock of one kernel relates to that of the first rank. Microseconds.
struct shift {
  double add = 0;        ///< to its times
  double error = 0;      ///< at most so much is wrong; less than 0: not known
  std::string how = {};  ///< for people: by what it was found
};

/// The clocks of all parts, by part::clock. No message is received before its send began: so
/// messages in both directions between two hosts bound the difference of their clocks from both
/// sides, and the middle is at most half the distance wrong. Where there are none, or events were
/// overwritten, it is taken from the time of day, which the hosts set by themselves.
///
/// Messages need not be matched for that: of those of one size from one rank to another, the n-th
/// that is received is no earlier than the n-th whose send begins.
std::map<std::string, shift> clocks_of(const std::vector<part>& parts);

}  // namespace weft::traces
