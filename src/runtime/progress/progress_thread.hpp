// SPDX-License-Identifier: Apache-2.0
// The thread that makes progress while the application computes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "runtime/os/cpu_set.hpp"
#include "runtime/os/exit_gate.hpp"
#include "runtime/progress/progress_core.hpp"
#include "runtime/progress/sleep_gate.hpp"

namespace weft::runtime {

/// Asleep, and touching nothing, while the caller polls or sleeps; active while the caller is in
/// user code. Doorbells ring for most data that arrives then, but not for data on descriptors. So
/// the thread ticks: it reads now and then whether the caller has gone to compute. The caller rings
/// for the thread if it does not tick, or if compute phases were long lately (compute_phase.hpp).
/// Owned by the engine.
class progress_thread {
 public:
  progress_thread(progress_core& c, sleep_gate& g) noexcept : core_(c), sleep_gate_(g) {}
  progress_thread(const progress_thread&) = delete;
  progress_thread& operator=(const progress_thread&) = delete;
  ~progress_thread() { stop(); }

  /// Starts the thread, if the mode has one. \throws weft::error (system) when no thread can be
  /// started
  void start();
  /// Ends the thread. Not with the progress lock held, which the thread may be waiting for.
  void stop() noexcept;

  /// Any thread, between start and stop. Where the thread may run; empty: there is none.
  cpu_set cpus() noexcept {
    return thread_.joinable() ? cpus_of_thread(thread_.native_handle()) : cpu_set{};
  }
  /// The same, to change it. \return 0, or the reason as errno has it
  int run_on(const cpu_set& cpus) noexcept {
    return thread_.joinable() ? bind_thread(thread_.native_handle(), cpus) : 0;
  }

  /// Any thread.
  bool is_this_thread() const noexcept { return std::this_thread::get_id() == thread_.get_id(); }
  /// Whether the thread is stopped, because the process exits.
  bool stands_still() const noexcept { return exit_gate_.is_closed(); }

 private:
  void loop() noexcept;
  bool may_be_short() const noexcept;
  void set_ticking(bool computes) noexcept;
  unsigned sleep(time_point deadline) noexcept;
  unsigned wait(time_point deadline) noexcept;
  bool serve_waits(unsigned& told) noexcept;
  bool tick_finds_computing() noexcept;
  bool tick_finds_no_polls() noexcept;
  bool has_polled_lately() noexcept;
  std::chrono::nanoseconds longest_tick() const noexcept;
  unsigned poll_for_caller() noexcept;

  progress_core& core_;
  sleep_gate& sleep_gate_;
  std::atomic<bool> stopping_{false};
  // Used by the thread only:
  std::chrono::nanoseconds tick_{};
  std::uint32_t computing_at_last_tick_ = 0;  // the doorbell's word
  std::uint32_t phase_seen_ = 0;              // the same, of the last phase that was looked at
  std::uint32_t polls_at_last_tick_ = 0;      // by calls; also with the progress lock held
  exit_gate exit_gate_{};
  std::thread thread_;
};

}  // namespace weft::runtime
