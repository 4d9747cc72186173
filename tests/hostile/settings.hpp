// SPDX-License-Identifier: Apache-2.0
// The settings from the command line.
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
  std::string plant;  ///< a fault planted in the victim, for the oracle to find: one of plant_names

  /// The command that repeats the run.
  std::string command() const;
};

/// \return empty: there is no such set
std::vector<std::string> transports_named(const std::string& name);
const std::vector<std::string>& transport_names();
const std::vector<std::string>& progress_names();
const std::vector<std::string>& plant_names();

/// The options that the contexts of all processes of a run have in common.
weft::options common_options(const settings& s);

/// The budget for unexpected messages: small, but more than the contexts of a seed are granted when
/// they connect.
inline constexpr std::size_t unexpected_budget = std::size_t{4} << 20;
inline constexpr std::size_t loan_budget = std::size_t{4} << 20;

// Tags. The victim receives messages without the first bit from any source. Messages with the first
// bit and without the second stay in the unexpected queue until they are cleared away. Honest peers
// use both bits.
inline constexpr std::uint64_t tag_left_lying = std::uint64_t{1} << 40;
inline constexpr std::uint64_t tag_honest = std::uint64_t{3} << 40;

}  // namespace hostile
