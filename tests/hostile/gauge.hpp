// SPDX-License-Identifier: Apache-2.0
// What the victim holds, told to the oracle whenever it asks.
#pragma once

#include <atomic>
#include <thread>

#include "board.hpp"

namespace hostile {

/// What this process holds now. \param all mappings, too, which take long to count
holdings held_here(bool all);

/// Whether resident memory and mappings say what the process holds: a sanitizer keeps what was
/// freed.
bool mapped_memory_counts() noexcept;

/// Answers the oracle from a thread of its own: also while the victim's others hang.
class gauge {
 public:
  explicit gauge(board& on);
  ~gauge();
  gauge(const gauge&) = delete;
  gauge& operator=(const gauge&) = delete;

 private:
  void answer();

  board& board_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

/// Asks the gauge and waits. \return false: it did not answer for so long that it never will
bool ask(board& on, holdings& told, bool all);

}  // namespace hostile
