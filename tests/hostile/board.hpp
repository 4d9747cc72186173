// SPDX-License-Identifier: Apache-2.0
// Memory that all processes of a run share: their notes for each other and for the oracle.
#pragma once

#include <time.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/remote_region.hpp>

#include "wireup/base/identity.hpp"

namespace hostile {

/// Nanoseconds of the steady clock, which is the same for all processes of a machine.
inline std::int64_t now() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// The resources that a process holds.
struct holdings {
  std::uint64_t heap = 0;  ///< bytes that are allocated and not freed
  std::uint64_t resident = 0;
  std::uint64_t descriptors = 0;
  std::uint64_t threads = 0;
  std::uint64_t mappings = 0;
};

/// A text that one process writes once; other processes read it after `set`.
struct text {
  std::array<char, 512> letters{};
  std::atomic<std::uint32_t> size{0};

  void set(std::string_view t) noexcept {
    const std::size_t n = t.copy(letters.data(), letters.size());
    size.store(static_cast<std::uint32_t>(n), std::memory_order_release);
  }
  std::string_view get() const noexcept {
    return {letters.data(), size.load(std::memory_order_acquire)};
  }
};

/// Written by an honest peer.
struct honest_notes {
  std::atomic<std::int32_t> pid{0};
  std::atomic<std::uint64_t> rounds{0};  ///< round trips that have ended
  std::atomic<std::int64_t> slowest{0};  ///< nanoseconds that only the victim explains
  std::atomic<std::int64_t> whole{0};    ///< all nanoseconds of the same round trip
  std::atomic<std::uint32_t> ready{0};
  weft::wireup::context_id id;  ///< before ready
  text locator;                 ///< before ready
  text trouble;                 ///< what was wrong
};

struct board {
  // Written by the victim, before `ready`.
  std::atomic<std::int32_t> victim_pid{0};
  text listening, tcp_listener, roster_listener;
  weft::remote_region open_region;  ///< for all peers, also the attacker
  std::atomic<std::uint32_t> ready{0};
  text trouble;
  std::atomic<std::uint64_t> requesters{0};

  // The victim's gauge: answers `asked` with `reading`, then `answered`.
  std::atomic<std::uint32_t> asked{0};
  std::atomic<std::uint32_t> asked_for_all{0};
  std::atomic<std::uint32_t> answered{0};
  holdings reading;

  std::array<honest_notes, 2> honest;

  // The oracle.
  std::atomic<std::uint32_t> please_end{0};    ///< all but the attacker
  std::atomic<std::uint64_t> allowed{0};       ///< how many seeds may be begun
  std::atomic<std::int64_t> machine_stood{0};  ///< nanoseconds in which the oracle did not run

  // The attacker.
  std::atomic<std::uint64_t> begun{0};
  std::atomic<std::uint64_t> ended{0};
};

}  // namespace hostile
