// SPDX-License-Identifier: Apache-2.0
// The notes that the ranks of a job under test write for the test, in memory that ranks and test
// map.
#pragma once

#include <sys/mman.h>
#include <time.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <stdexcept>

namespace fault {

inline constexpr std::uint32_t ranks = 4;

/// Nanoseconds of the steady clock, which is the same for all processes of a machine.
inline std::int64_t now() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// One rank's part of the board; only that rank writes it.
struct rank_notes {
  std::atomic<std::int64_t> began;  ///< when its first operations were posted; 0: not yet
  std::array<std::atomic<std::uint64_t>, ranks> received;  ///< messages, by source
  std::array<std::atomic<std::int64_t>, ranks> lost;       ///< when it learned of a death; 0: never
  std::atomic<std::uint32_t> ended_well;
};

/// All zeros: a board on which nothing has happened.
struct board {
  std::array<rank_notes, ranks> rank;
  // Written by the test:
  std::atomic<std::uint32_t> please_end;
  std::atomic<std::uint32_t> please_stay;  ///< a rank with nothing left to do does not leave yet

  /// Messages that all ranks together have received.
  std::uint64_t received() const {
    std::uint64_t all = 0;
    for (const rank_notes& r : rank)
      for (const auto& from : r.received) all += from;
    return all;
  }

  /// Whether this rank has exchanged `enough` messages with each other rank, in both directions.
  bool flows_with(std::size_t one, std::uint64_t enough) const {
    for (std::size_t other = 0; other < ranks; ++other)
      if (other != one &&
          (rank[one].received[other] < enough || rank[other].received[one] < enough))
        return false;
    return true;
  }
};

/// Maps a board; it stays mapped.
inline board* map_board(int fd) {
  void* at = ::mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) throw std::runtime_error("the board cannot be mapped");
  return static_cast<board*>(at);
}

}  // namespace fault
