// SPDX-License-Identifier: Apache-2.0
// Threads of weft's own while the process exits.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace weft::runtime {

/// Where a thread of weft's own stands still while the process exits: what it works on may be gone
/// before it is, as static objects and the memory of receives are. `exit` closes all gates, by a
/// handler that is called before the destructors of what is older than the first context. A thread
/// that is on its way to its gate is waited for, a second at most: it may want the progress lock,
/// which the thread that exits may hold (a signal handler), or run code of the application (an
/// executor's). No thread is joined, so that any may call exit, also one of weft's own.
///
/// Who uses weft after that, in a handler of exit or the destructor of a static object, opens the
/// gates again. In a child after fork there are none.
class exit_gate {
 public:
  /// \param wake makes the thread come to the gate soon; null: it passes by after each sleep, and
  ///   sleeps with its work at rest
  explicit exit_gate(void (*wake)(void*) = nullptr, void* argument = nullptr) noexcept;
  /// After the thread's end.
  ~exit_gate();
  exit_gate(const exit_gate&) = delete;
  exit_gate& operator=(const exit_gate&) = delete;

  // --- the thread's own; without a lock that others wait for ---------------------------------

  /// From now on it is at work. Waits while the gate is closed.
  void begin_work() noexcept {
    worker_.store(this_thread(), std::memory_order_relaxed);
    at_work_.store(true, std::memory_order_seq_cst);
    if (closed_.load(std::memory_order_seq_cst) != 0) [[unlikely]]
      stand_still();
  }
  void end_work() noexcept { at_work_.store(false, std::memory_order_seq_cst); }
  /// At work still: waits while the gate is closed.
  void pass() noexcept {
    if (closed_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      stand_still();
  }

  // --- any thread ----------------------------------------------------------------------------

  bool is_closed() const noexcept { return closed_.load(std::memory_order_relaxed) != 0; }

  /// Its thread is to end: closed no more. Waits while gates are being closed.
  void open_for_good() noexcept;

  /// Of all that there are in this process; gates that come later are open.
  static void close_all() noexcept;
  static void open_all() noexcept;

  /// A context is used for the first time: objects between it and the one that was made first go
  /// after the gates are closed, too.
  static void expect_exit() noexcept;

 private:
  /// Names the calling thread among those that live.
  static const void* this_thread() noexcept;
  bool is_at_rest() const noexcept;
  void stand_still() noexcept;
  void open() noexcept;

  void (*const wake_)(void*);
  void* const argument_;
  const pid_t process_ = ::getpid();
  std::atomic<std::uint32_t> closed_{0};  // slept on
  std::atomic<bool> at_work_{false};
  std::atomic<const void*> worker_{nullptr};
  bool for_good_ = false;        // under the mutex of the list
  exit_gate* before_ = nullptr;  // in the list of all of them, under its mutex
  exit_gate* after_ = nullptr;
};

}  // namespace weft::runtime
