// SPDX-License-Identifier: Apache-2.0
// Failures that the kernel reports by a signal first, and by an errno only to those who survive it.
#pragma once

#include <signal.h>

namespace weft::runtime {

/// Holds a signal back from this thread during a call that may raise it: SIGPIPE of a broken
/// connection, SIGXFSZ beyond the limit on file size. Either ends a process that does not handle
/// it, before any error can be read. Two system calls.
class held_back_signal {
 public:
  explicit held_back_signal(int number) noexcept;
  held_back_signal(const held_back_signal&) = delete;
  held_back_signal& operator=(const held_back_signal&) = delete;
  ~held_back_signal();

  /// The call has failed, or did less than it was asked for: drops the signal. Keeps errno.
  void drop() noexcept;

 private:
  sigset_t held_{};
  sigset_t before_{};
  bool was_held_ = false;  // by the application, which then expects it to stay
};

}  // namespace weft::runtime
