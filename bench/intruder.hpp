// SPDX-License-Identifier: Apache-2.0
// A process that makes bad TCP connections at a steady rate when it is told to.
#pragma once

#include <netinet/in.h>
#include <sys/types.h>

#include <cstdint>

namespace weft::bench {

/// Forked by the constructor and ended with this object. Its controls are in memory that is shared
/// with processes that are forked later; each member function may be called by any of them.
class intruder {
 public:
  /// For a process with one thread. \param rate connections a second
  explicit intruder(double rate);
  ~intruder();
  intruder(const intruder&) = delete;
  intruder& operator=(const intruder&) = delete;

  /// One more place to go to, in turns. At most eight, all before it is let loose.
  void aim_at(const sockaddr_in& place);
  void let_loose(bool yes) noexcept;
  /// How many connections it has made.
  std::uint64_t made() const noexcept;

 private:
  struct controls;
  controls* const shared_;
  const pid_t pid_;
};

}  // namespace weft::bench
