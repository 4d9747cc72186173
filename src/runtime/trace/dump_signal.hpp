// SPDX-License-Identifier: Apache-2.0
// A signal that asks weft for a dump.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#include "runtime/os/exit_gate.hpp"

namespace weft::runtime {

/// Calls a function on a thread of its own for each signal of one number. That thread sleeps
/// otherwise, and needs no other thread of weft: it works also when all of them hang. The handler
/// is the process's, shared by all objects of this class; it counts and wakes, and is installed
/// only where the application has no handler of its own. The end of the last object brings back
/// what was there before, unless the application has installed another one since. A child after
/// fork has no such thread, and the signal does there what it does by default.
class dump_signal {
 public:
  /// \param number of the signal, below 32
  /// \param act must not throw; signals that come while it runs make one more call
  /// \throws weft::error (system) when no thread can be started
  dump_signal(int number, std::function<void()> act);
  ~dump_signal();
  dump_signal(const dump_signal&) = delete;
  dump_signal& operator=(const dump_signal&) = delete;

  /// False: the application handles the signal itself.
  bool is_installed() const noexcept { return installed_; }

 private:
  void loop() noexcept;

  const int number_;
  const std::function<void()> act_;
  const bool installed_;
  std::uint32_t seen_ = 0;  // of the signals so far; the thread only, once it runs
  std::atomic<bool> stopping_{false};
  exit_gate exit_gate_;
  std::thread thread_;
};

}  // namespace weft::runtime
