// SPDX-License-Identifier: Apache-2.0
// Tells the oracle on request which resources the victim holds.
#pragma once

#include <atomic>
#include <thread>

#include "board.hpp"

namespace hostile {

/// The resources that this process holds now. \param all count mappings, too, which takes long
holdings held_here(bool all);

/// Whether resident memory and mappings show what the process holds: a sanitizer keeps freed
/// memory.
bool mapped_memory_counts() noexcept;

/// Answers the oracle on its own thread: also while the victim's other threads hang.
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

/// Asks the gauge and waits. \return false: it has not answered for so long that it never will
bool ask(board& on, holdings& told, bool all);

}  // namespace hostile
