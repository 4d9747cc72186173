// SPDX-License-Identifier: Apache-2.0
// The part of a measured time for which the machine is responsible.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

#include "board.hpp"
#include "runtime/descriptors/fd.hpp"

namespace hostile {

/// Sums up for how long threads of some processes were ready to run and did not run: other threads
/// had the processor, or the machine stood still. The rest of a round trip was caused by those
/// processes: they computed, or slept. Errs towards too many excuses: threads wait side by side.
class excuses {
 public:
  excuses(const board& on, std::vector<pid_t> of) : board_(on), of_(std::move(of)) {}

  /// Nanoseconds so far.
  std::int64_t so_far();

  /// Whether this kernel reports that time.
  static bool known();

 private:
  void look_for_threads();

  const board& board_;
  const std::vector<pid_t> of_;
  std::map<pid_t, weft::unique_fd> threads_;
  weft::unique_fd machine_;
  unsigned looks_ = 0;
  std::int64_t gone_ = 0;  // of threads that have ended
  std::map<pid_t, std::int64_t> last_;
};

}  // namespace hostile
