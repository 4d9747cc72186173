// SPDX-License-Identifier: Apache-2.0
// An eventfd with one owner: wakes a sleeping thread of the same process. Never handed to another
// process, which could block or silence it; remote_wakeup.hpp is for other processes.
#pragma once

#include "runtime/descriptors/fd.hpp"

namespace weft::runtime {

/// Stays readable from the first ring() until drain(). ring() may come from any thread, and from
/// a signal handler; drain() belongs to the thread that sleeps on it. Never blocks.
class event_fd {
 public:
  /// Throws weft::error(system) when the process is out of descriptors, or may not have one.
  event_fd();

  int fd() const noexcept { return fd_.get(); }

  /// Makes the descriptor readable. Leaves errno as it was, for the sake of signal handlers.
  void ring() noexcept;

  /// Makes the descriptor unreadable again. True if it had been rung.
  bool drain() noexcept;

 private:
  unique_fd fd_;
};

}  // namespace weft::runtime
