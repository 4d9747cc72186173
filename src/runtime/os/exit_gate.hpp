// SPDX-License-Identifier: Apache-2.0
// Stops weft's own threads while the process exits.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace weft::runtime {

/// Stops a thread of weft while the process exits: the objects that the thread uses may be
/// destroyed before it, as static objects and the memory of receives are. `exit` closes all gates,
/// by a handler that runs before the destructors of objects older than the first context. It waits
/// for threads on their way to their gates, for a second at most: such a thread may want the
/// progress lock, which the exiting thread may hold (a signal handler), or run code of the
/// application (an executor's). No thread is joined, so any thread may call exit, also one of weft.
///
/// A thread that uses weft after that, in an exit handler or the destructor of a static object,
/// opens the gates again. A child after fork has no gates.
class exit_gate {
 public:
  /// \param wake makes the thread come to the gate soon; null: the thread passes the gate after
  ///   each sleep, and its work is at rest while it sleeps
  explicit exit_gate(void (*wake)(void*) = nullptr, void* argument = nullptr) noexcept;
  /// Call after the thread's end.
  ~exit_gate();
  exit_gate(const exit_gate&) = delete;
  exit_gate& operator=(const exit_gate&) = delete;

  // --- the thread's own; without a lock that others wait for ---------------------------------

  /// The thread is at work from now on. Waits while the gate is closed.
  void begin_work() noexcept {
    worker_.store(this_thread(), std::memory_order_relaxed);
    at_work_.store(true, std::memory_order_seq_cst);
    if (closed_.load(std::memory_order_seq_cst) != 0) [[unlikely]]
      stand_still();
  }
  void end_work() noexcept { at_work_.store(false, std::memory_order_seq_cst); }
  /// The thread stays at work: waits while the gate is closed.
  void pass() noexcept {
    if (closed_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      stand_still();
  }

  // --- any thread ----------------------------------------------------------------------------

  bool is_closed() const noexcept { return closed_.load(std::memory_order_relaxed) != 0; }

  /// The gate's thread is to end: the gate will not be closed again. Waits while gates are being
  /// closed.
  void open_for_good() noexcept;

  /// For all gates of this process; gates that are made later are open.
  static void close_all() noexcept;
  static void open_all() noexcept;

  /// Called at the first use of a context: the gates are then closed before objects between that
  /// context and the first one are destroyed, too.
  static void expect_exit() noexcept;

 private:
  /// Identifies the calling thread among the living ones.
  static const void* this_thread() noexcept;
  bool is_at_rest() const noexcept;
  void stand_still() noexcept;
  void open() noexcept;

  void (*const wake_)(void*);
  void* const argument_;
  const pid_t process_ = ::getpid();
  std::atomic<std::uint32_t> closed_{0};  // threads wait on it
  std::atomic<bool> at_work_{false};
  std::atomic<const void*> worker_{nullptr};
  bool for_good_ = false;        // under the mutex of the list
  exit_gate* before_ = nullptr;  // in the list of all gates, under its mutex
  exit_gate* after_ = nullptr;
};

}  // namespace weft::runtime
