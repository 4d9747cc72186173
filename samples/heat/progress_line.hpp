// SPDX-License-Identifier: Apache-2.0
// The progress of the computation, for display.
#pragma once

#include <cstdint>

namespace heat {

/// On a terminal a growing bar, elsewhere a line for each tenth. Writes to standard error, so it
/// does not mix with results.
class progress_line {
 public:
  enum class when { never, on_a_terminal, always };

  progress_line(when shown, std::uint32_t steps);
  ~progress_line();
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  /// Cheap when there is nothing new to show.
  void show(std::uint32_t done);

 private:
  std::uint32_t steps_;
  std::uint32_t next_ = 0;  ///< the number of steps at the next output
  bool terminal_;
  bool shown_;
  bool unfinished_ = false;  ///< the cursor is behind a bar
};

}  // namespace heat
