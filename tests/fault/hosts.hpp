// SPDX-License-Identifier: Apache-2.0
// Jobs on one host, and on two: network namespaces joined by a cable.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace fault {

/// What a job's ranks talk through, and where they are. Of two hosts the first has the first half
/// of the ranks, so that each rank has peers that share its memory and others that do not.
struct setting {
  std::string transports;  ///< a value of WEFT_TRANSPORTS
  int hosts = 1;
};
inline std::ostream& operator<<(std::ostream& to, const setting& s) {
  return to << s.transports << " on " << s.hosts << (s.hosts == 1 ? " host" : " hosts");
}

/// Each transport alone, and shm and tcp together on two hosts where those can be had. Enters a
/// private world (world.hpp) for it.
const std::vector<setting>& settings();

/// Makes the second host; this process stays on the first. Enters a private world for it. Once per
/// process is enough.
/// \return what could not be had; empty if all is well
const std::string& make_second_host();

/// The network namespace of the second host: a descriptor that programs inherit.
int second_host();

/// From now on the network loses what one host sends to the other, without a word: the cable stays
/// plugged in, and nobody resets a connection.
void lose_frames();
/// It carries them again.
void carry_frames();

/// While it lives, frames are lost.
struct silence {
  silence() { lose_frames(); }
  ~silence() { carry_frames(); }
  silence(const silence&) = delete;
  silence& operator=(const silence&) = delete;
};

}  // namespace fault
