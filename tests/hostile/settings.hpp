// SPDX-License-Identifier: Apache-2.0
// What was asked for on the command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/context.hpp>

namespace hostile {

/// A run: one victim under the seeds from `first` on.
struct settings {
  std::uint64_t first = 1;
  std::uint64_t seeds = 1;
  std::string transport = "mixed";  ///< a name of transports_named
  std::string progress = "dedicated";
  std::vector<unsigned> only;        ///< acts, by number; empty: all
  std::vector<std::string> without;  ///< acts that are not played, by name
  unsigned slowest = 50;             ///< milliseconds that a round trip may take
  bool trace = false;
  std::string plant;  ///< a fault of the victim's own, for the oracle to find: of plant_names

  /// What repeats it.
  std::string command() const;
};

/// \return empty: there is no such set
std::vector<std::string> transports_named(const std::string& name);
const std::vector<std::string>& transport_names();
const std::vector<std::string>& progress_names();
const std::vector<std::string>& plant_names();

/// What is the same for the contexts of all processes of a run.
weft::options common_options(const settings& s);

/// Memory for messages that nobody has received yet: little, but more than the contexts of a seed
/// are granted when they come.
inline constexpr std::size_t unexpected_budget = std::size_t{4} << 20;

// Tags. The victim receives those without the first bit from anybody; what has the first and not
// the second lies there until it is cleared away; both are of honest peers.
inline constexpr std::uint64_t tag_left_lying = std::uint64_t{1} << 40;
inline constexpr std::uint64_t tag_honest = std::uint64_t{3} << 40;

}  // namespace hostile
