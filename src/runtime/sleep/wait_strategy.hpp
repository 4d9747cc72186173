// SPDX-License-Identifier: Apache-2.0
// How a waiting thread waits: the policy, with the clock and the processor.
#pragma once

#include <cstdint>

#include "runtime/sleep/wait_policy.hpp"

namespace weft::runtime {

/// Advises a thread whose polls are empty, and yields the core for it (sched_yield). Owned and used
/// by that thread.
class wait_strategy {
 public:
  using settings = wait_policy::settings;
  enum class advice : std::uint8_t { look_around, sleep };

  /// A peer that has not taken a message for this long may need a ring. It may also be in the
  /// middle of a call: to wait this long costs no more than a ring that was not needed. On a
  /// crowded host it mostly only waits for a core.
  static constexpr std::chrono::microseconds long_wait{10}, long_wait_when_crowded{100};

  explicit wait_strategy(settings s) noexcept : policy_(s) {}

  /// An event came: begin anew.
  void reset() noexcept { policy_.reset(); }

  /// How many empty passes to make before on_empty_polls() is called. On a crowded host the sender
  /// of the awaited message may need this core.
  unsigned passes_in_turn() const noexcept {
    return policy_.never_spins() ? 1 : crowded() ? 4 : 64;
  }

  /// As of the last on_empty_polls(): whether peers may need a ring.
  bool waits_long() const noexcept {
    return policy_.waited() > (crowded() ? long_wait_when_crowded : long_wait);
  }

  /// That many passes were empty. `look_around` asks for the work that is too expensive for every
  /// pass, and to go on.
  /// \param others_run an external loop, which yields the core itself
  advice on_empty_polls(bool others_run = false) noexcept;

  /// For a thread that does not sleep. \return false: a neighbour would keep the core
  bool let_others_run() noexcept;

  /// More threads that wait for each other want to run than there are cores.
  bool crowded() const noexcept { return policy_.crowded(); }

 private:
  wait_policy policy_;
};

}  // namespace weft::runtime
