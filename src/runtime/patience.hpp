// SPDX-License-Identifier: Apache-2.0
// How a waiting thread waits: spin, then yield, then sleep.
#pragma once

#include <chrono>
#include <cstdint>

namespace weft::runtime {

/// Advises a thread that polls in vain. Owned and used by that thread. Alone on its core it spins
/// for the budget and then sleeps. Where other threads want the core (noticed by yields that take
/// long, or known from the number of processes) it yields at once, and sleeps when that has brought
/// nothing for a while: eight ranks on two cores are an ordinary case.
class patience {
 public:
  struct settings {
    std::chrono::nanoseconds spin{std::chrono::microseconds{200}};
    bool never_sleep = false;  ///< mode `polling`
    bool never_spin = false;   ///< mode `interrupt`
    bool crowded = false;      ///< more processes of the job than cores
  };
  enum class advice : std::uint8_t { poll_again, look_around, sleep };

  explicit patience(settings s) noexcept : settings_(s), crowded_(s.crowded) {}

  /// Something happened: begin anew.
  void reset() noexcept { vain_passes_ = 0; }

  /// A pass brought nothing. `look_around` asks for what is too dear to do in every pass.
  advice in_vain() noexcept {
    if (++vain_passes_ % passes_between_looks != 0 && !settings_.never_spin) [[likely]]
      return advice::poll_again;
    return think();
  }

 private:
  static constexpr std::uint32_t passes_between_looks = 64;

  advice think() noexcept;
  void yield() noexcept;

  settings settings_;
  bool crowded_;
  std::uint32_t vain_passes_ = 0;
  std::uint32_t quiet_yields_ = 0;
  std::chrono::steady_clock::time_point vain_since_{};
};

}  // namespace weft::runtime
