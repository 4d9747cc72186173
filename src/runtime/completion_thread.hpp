// SPDX-License-Identifier: Apache-2.0
// The second progress thread of mode `two_threads`.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include <weft/coro/executor.hpp>

#include "runtime/exit_gate.hpp"

namespace weft::runtime {

/// Hands ended operations to their executors in place of the thread that moves messages, which does
/// this itself in all other modes. To repeat an experiment: docs/adr/0014. Owned by the engine;
/// asleep while it has no operations.
class completion_thread {
 public:
  /// \throws weft::error (system) when no thread can be started
  completion_thread();
  completion_thread(const completion_thread&) = delete;
  completion_thread& operator=(const completion_thread&) = delete;
  /// Hands on the remaining operations, and ends the thread. Not on that thread.
  ~completion_thread();

  /// Takes all operations of the list, each with `on` set. Any thread; not with the progress lock
  /// held.
  void take(operation_list& ended) noexcept;

 private:
  void hand_on() noexcept;

  std::mutex mutex_;
  std::condition_variable changed_;
  operation_list ended_;   // guarded by mutex_
  bool stopping_ = false;  // guarded by mutex_
  exit_gate gate_{};
  std::thread thread_;
};

}  // namespace weft::runtime
