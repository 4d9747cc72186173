// SPDX-License-Identifier: Apache-2.0
// Mode `two_threads`: an engine with a second progress thread, for experiments.
#pragma once

#include "runtime/completion/completion_thread.hpp"
#include "runtime/completion/second_queue.hpp"

namespace weft::runtime {

class progress_core;

/// The completion thread of an engine, and what it does: it reads a second queue that a transport
/// serves to it; without one it takes ended operations of other executors from the thread that
/// releases the progress lock. docs/adr/0014-two-threads.md, docs/adr/0044-second-queue.md. Owned
/// by progress_core. Progress lock held, unless a member says otherwise.
class two_threads final : public second_queue_reader {
 public:
  /// \throws weft::error (system) when no thread can be started
  explicit two_threads(progress_core& core);

  // second_queue_reader
  void serve(second_queue* queue) noexcept override { queue_ = queue; }
  bool serves() const noexcept override { return queue_ != nullptr; }
  void ring() noexcept override;

  /// Whether the operations that are handed out after the release are for this thread.
  bool takes_operations() const noexcept { return !queue_; }

  // Any thread, without the progress lock.
  void wake() noexcept { thread_.ring(); }
  void take(operation_list& ended) noexcept { thread_.take(ended); }
  bool is_this_thread() const noexcept { return thread_.is_this_thread(); }

 private:
  void read() noexcept;

  progress_core& core_;
  second_queue* queue_ = nullptr;  // null: there is none, or passes read it
  completion_thread thread_;       // the last one, for it uses the others
};

}  // namespace weft::runtime
