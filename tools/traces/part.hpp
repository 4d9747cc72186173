// SPDX-License-Identifier: Apache-2.0
// The trace of one lane of a rank, as its context has written it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace weft::traces {

/// A value.
struct part {
  std::uint32_t rank = 0;
  std::uint64_t overwritten = 0;  ///< events that are not there any more
  /// The kernel that the clock is of; empty: not known.
  std::string clock;
  /// The time of day less the clock, in microseconds, when the trace was written.
  double time_of_day = 0;
  std::vector<std::string> events;  ///< objects of JSON, one each
};

/// \param rank where the file does not name it
/// \return nothing: it is no whole trace
std::optional<part> read_part(const std::filesystem::path& file, std::uint32_t rank);

}  // namespace weft::traces
