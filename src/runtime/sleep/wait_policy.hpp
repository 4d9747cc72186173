// SPDX-License-Identifier: Apache-2.0
// What a waiting thread does next: it spins, lets others run, or sleeps. No clock, no system call:
// both come in, so that a test can run the policy under virtual time.
#pragma once

#include <chrono>
#include <cstdint>

#include "runtime/os/yield_meter.hpp"

namespace weft::runtime {

/// Owned and used by the thread that waits. Alone on its core the thread spins for 20 us, then
/// yields between polls until settings::spin has passed, and then sleeps. On a crowded host (known
/// from the number of processes, or noticed by yields that others use) it yields at once, and
/// sleeps when that has brought no event for a while: eight ranks on two cores are an ordinary
/// case.
///
/// Where a neighbour wants the core, a yield would give it a time slice for each message. After the
/// first one the thread spins its own slice out, or sleeps: the wake-up takes the core back at
/// once.
class wait_policy {
 public:
  using time_point = yield_meter::time_point;

  struct settings {
    std::chrono::nanoseconds spin{std::chrono::microseconds{200}};
    bool never_sleep = false;  ///< mode `polling`
    bool never_spin = false;   ///< mode `interrupt`
    bool crowded = false;      ///< more processes of the job than cores
  };
  enum class advice : std::uint8_t { spin, yield, sleep };

  explicit wait_policy(settings s) noexcept : settings_(s) {}

  /// An event came: begin anew.
  void reset() noexcept { idle_ = false; }

  /// Some polls were empty.
  advice on_empty_polls(time_point now) noexcept;

  /// A yield began and ended.
  void on_yield(time_point from, time_point to) noexcept;

  bool yields_are_dear(time_point now) const noexcept { return yields_.is_dear(now); }
  bool never_spins() const noexcept { return settings_.never_spin; }
  /// More threads that wait for each other want to run than there are cores.
  bool crowded() const noexcept { return settings_.crowded || others_wait_; }
  /// As of the last on_empty_polls().
  std::chrono::nanoseconds waited() const noexcept { return waited_; }

 private:
  settings settings_;
  yield_meter yields_;
  bool others_wait_ = false;       // as yields have shown
  std::uint32_t used_yields_ = 0;  // those of others, weighed against the ones without use
  bool idle_ = false;
  time_point idle_since_{};
  std::chrono::nanoseconds waited_{0};
};

}  // namespace weft::runtime
