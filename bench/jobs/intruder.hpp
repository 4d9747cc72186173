// SPDX-License-Identifier: Apache-2.0
// A process that makes bad TCP connections at a steady rate, on request.
#pragma once

#include <netinet/in.h>
#include <sys/types.h>

#include <cstdint>

namespace weft::bench {

/// Forked by the constructor and ended with this object. Its controls are in memory shared with
/// processes that are forked later; any of these may call the member functions.
class intruder {
 public:
  /// For a process with one thread. \param rate connections a second
  explicit intruder(double rate);
  ~intruder();
  intruder(const intruder&) = delete;
  intruder& operator=(const intruder&) = delete;

  /// Adds an address; the process uses all addresses in turns. At most eight, all before the start.
  void aim_at(const sockaddr_in& place);
  void let_loose(bool yes) noexcept;
  /// The number of connections made.
  std::uint64_t made() const noexcept;

 private:
  struct controls;
  controls* const shared_;
  const pid_t pid_;
};

}  // namespace weft::bench
