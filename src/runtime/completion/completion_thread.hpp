// SPDX-License-Identifier: Apache-2.0
// The second progress thread of mode `two_threads`.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include <weft/coro/executor.hpp>

#include "runtime/os/exit_gate.hpp"

namespace weft::runtime {

/// Asleep until there is work of one of two kinds, to repeat an experiment (docs/adr/0044):
///
///   a second queue (second_queue.hpp): reads it, and so ends operations, with the progress lock;
///   without one: hands ended operations to their executors, in place of the thread that moves
///   messages, which does this itself in all other modes.
///
/// Owned by the engine.
class completion_thread {
 public:
  /// \param read reads the second queue; called on this thread after ring()
  /// \throws weft::error (system) when no thread can be started
  explicit completion_thread(std::function<void()> read);
  completion_thread(const completion_thread&) = delete;
  completion_thread& operator=(const completion_thread&) = delete;
  /// Hands on the remaining operations, and ends the thread. Not on that thread.
  ~completion_thread();

  /// The second queue has messages. Any thread; not with the progress lock held.
  void ring() noexcept;
  /// Takes all operations of the list, each with `on` set. Any thread; not with the progress lock
  /// held.
  void take(operation_list& ended) noexcept;

  /// Any thread.
  bool is_this_thread() const noexcept { return std::this_thread::get_id() == thread_.get_id(); }

 private:
  void work() noexcept;

  const std::function<void()> read_;
  std::mutex mutex_;
  std::condition_variable changed_;
  operation_list ended_;   // guarded by mutex_
  bool rung_ = false;      // guarded by mutex_
  bool stopping_ = false;  // guarded by mutex_
  exit_gate gate_{};
  std::thread thread_;
};

}  // namespace weft::runtime
