// SPDX-License-Identifier: Apache-2.0
// Whether the peer's host still answers.
#pragma once

#include <chrono>

namespace weft::transports::tcp {

/// Time for a host to answer a probe of the kernel. Less than any peer timeout.
inline constexpr std::chrono::seconds time_to_answer{1};

/// A peer that computes and reads nothing still answers the kernel's probes, and the kernel's own
/// timeout would end the connection all the same: while bytes wait for such a peer, this watches in
/// place of the kernel. Owned by a pair; progress lock held only.
class silence_watch {
 public:
  /// At each tick of a connection. \param waits whether the peer, or its host, has not taken all
  /// that was written \param limit of silence \param tick time since the last one
  /// \return whether the host has been silent for too long
  bool look(int fd, bool waits, std::chrono::seconds limit,
            std::chrono::milliseconds tick) noexcept;

 private:
  bool watches_ = false;  // in place of the kernel
  unsigned doubts_ = 0;   // ticks in a row at which an answer was overdue
};

}  // namespace weft::transports::tcp
