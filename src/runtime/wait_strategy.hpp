// SPDX-License-Identifier: Apache-2.0
// How a waiting thread waits: it spins, then yields, then sleeps.
#pragma once

#include <chrono>
#include <cstdint>

namespace weft::runtime {

/// Advises a thread whose polls are empty, and yields the core for it (sched_yield). Owned and used
/// by that thread. Alone on its core the thread spins for 20 us, then yields between polls until
/// settings::spin has passed, and then sleeps. On a crowded host (noticed by yields that take long,
/// or known from the number of processes) it yields at once, and sleeps when that has brought no
/// event for a while: eight ranks on two cores are an ordinary case.
class wait_strategy {
 public:
  struct settings {
    std::chrono::nanoseconds spin{std::chrono::microseconds{200}};
    bool never_sleep = false;  ///< mode `polling`
    bool never_spin = false;   ///< mode `interrupt`
    bool crowded = false;      ///< more processes of the job than cores
  };
  enum class advice : std::uint8_t { look_around, sleep };

  /// On a crowded host a peer that has not taken a message for this long may need a ring: mostly it
  /// only waits for a core.
  static constexpr std::chrono::microseconds turn_of_others{100};

  explicit wait_strategy(settings s) noexcept : settings_(s), crowded_(s.crowded) {}

  /// An event came: begin anew.
  void reset() noexcept { idle_ = false; }

  /// How many empty passes to make before on_empty_polls() is called. On a crowded host the sender
  /// of the awaited message may need this core.
  unsigned passes_in_turn() const noexcept { return settings_.never_spin ? 1 : crowded_ ? 4 : 64; }

  /// As of the last on_empty_polls(): false while a peer that does not poll may just not have had
  /// its turn.
  bool others_had_a_turn() const noexcept { return !crowded_ || waited_ > turn_of_others; }

  /// That many passes were empty. `look_around` asks for the work that is too expensive for every
  /// pass, and to go on.
  /// \param others_run an external loop, which yields the core itself
  advice on_empty_polls(bool others_run = false) noexcept;

  /// More threads want to run than there are cores.
  bool crowded() const noexcept { return crowded_; }

 private:
  void yield() noexcept;

  settings settings_;
  bool crowded_;
  bool idle_ = false;
  std::uint32_t quiet_yields_ = 0;
  std::chrono::steady_clock::time_point idle_since_{};
  std::chrono::nanoseconds waited_{0};
};

}  // namespace weft::runtime
