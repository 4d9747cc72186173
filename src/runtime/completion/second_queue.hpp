// SPDX-License-Identifier: Apache-2.0
// The queue that the second progress thread of mode `two_threads` reads.
#pragma once

namespace weft::runtime {

/// A queue of reports to this process itself, beside that of incoming messages: a transport's, of
/// copies that have ended. In mode `two_threads` the completion thread sleeps until the queue's
/// owner rings (engine::ring_completion_thread), and reads it; passes do not. In all other modes,
/// and after engine::stop, the owner reads it in its passes. Owned by a transport; progress lock
/// held. docs/adr/0044-second-queue.md
class second_queue {
 public:
  /// Reads all that is there, and reports it to those who wait for it.
  virtual void take_all() noexcept = 0;

 protected:
  ~second_queue() = default;
};

}  // namespace weft::runtime
