// SPDX-License-Identifier: Apache-2.0
// The whole job: rank 0 leads (reads, distributes, collects, writes), the others follow.
#pragma once

#include <cstdint>
#include <filesystem>

#include <weft/weft.hpp>

namespace heat {

/// The command line.
struct settings {
  std::filesystem::path picture = {};
  std::filesystem::path out = {};
  std::uint32_t steps = 1000;
  float rate = 0.2f;
  bool progress = false;  ///< also if standard error is no terminal
  bool check = false;     ///< compare with the result of one process alone
};

/// The part of rank 0, and that of the other ranks. Both return the exit status, the same on every
/// rank.
/// \param world the job
/// \param s     must live until the task has ended
weft::task<int> lead(weft::group world, const settings& s);
weft::task<int> follow(weft::group world);

}  // namespace heat
