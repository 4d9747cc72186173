// SPDX-License-Identifier: Apache-2.0
// Jobs on one host, and on two: network namespaces joined by a cable.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace fault {

/// The transports of a job's ranks, and their hosts. Of two hosts the first runs the first half of
/// the ranks, so that each rank has peers that share its memory and others that do not.
struct setting {
  std::string transports;  ///< a value of WEFT_TRANSPORTS
  int hosts = 1;
};
inline std::ostream& operator<<(std::ostream& to, const setting& s) {
  return to << s.transports << " on " << s.hosts << (s.hosts == 1 ? " host" : " hosts");
}

/// Each transport alone, and shm and tcp together on two hosts where two hosts can be had. Enters a
/// private world (world.hpp) for that.
const std::vector<setting>& settings();

/// Makes the second host; this process stays on the first. Enters a private world for that. Once
/// per process is enough.
/// \return what is not available; empty if all is well
const std::string& make_second_host();

/// The network namespace of the second host: a descriptor that programs inherit.
int second_host();

/// From now on the network silently loses what one host sends to the other: the cable stays plugged
/// in, and no connection is reset.
void lose_frames();
/// The network carries frames again.
void carry_frames();

/// Frames are lost while it lives.
struct silence {
  silence() { lose_frames(); }
  ~silence() { carry_frames(); }
  silence(const silence&) = delete;
  silence& operator=(const silence&) = delete;
};

}  // namespace fault
