// SPDX-License-Identifier: Apache-2.0
// The queue that the second progress thread of mode `two_threads` reads.
#pragma once

namespace weft::runtime {

/// A queue of reports to this process itself, beside that of incoming messages: a transport's, of
/// copies that have ended. In mode `two_threads` the completion thread sleeps until the queue's
/// owner rings (second_queue_reader::ring), and reads it; passes do not. In all other modes,
/// and after engine::stop, the owner reads it in its passes. Owned by a transport; progress lock
/// held. docs/adr/0044-second-queue.md
class second_queue {
 public:
  /// Reads all that is there, and reports it to those who wait for it.
  virtual void take_all() noexcept = 0;

 protected:
  ~second_queue() = default;
};

/// The completion thread, as the owner of a second queue sees it. Progress lock held, except for
/// `serve` before the engine starts.
class second_queue_reader {
 public:
  /// The completion thread reads this queue from now on, in place of passes. Null: passes read it
  /// again.
  virtual void serve(second_queue* queue) noexcept = 0;
  /// Whether it reads one.
  virtual bool serves() const noexcept = 0;
  /// The second queue has messages: wakes that thread when the progress lock is released.
  virtual void ring() noexcept = 0;

 protected:
  ~second_queue_reader() = default;
};

}  // namespace weft::runtime
