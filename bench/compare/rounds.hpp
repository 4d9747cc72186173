// SPDX-License-Identifier: Apache-2.0
// Interleaved rounds: A B C, A B C, ... The machine drifts by factors within minutes; figures of
// one round were measured in the same state of the machine.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compare/contestant.hpp"
#include "compare/series.hpp"

namespace weft::bench {

/// Names a figure of one contestant.
struct cell {
  std::string series;
  std::string pattern;  ///< of overlap; else empty
  std::size_t size;

  // NOLINTNEXTLINE(modernize-use-nullptr): the zero that the compiler compares with is no pointer
  auto operator<=>(const cell&) const = default;
};

/// A contestant that was left out, from the round on in which it failed.
struct failure {
  std::string contestant;
  std::string of;  ///< the series, or "the comparison" if it never worked
  std::string reason;
  bool wrong = false;  ///< it computed something wrong
};

/// All results: for each cell and contestant one JSON line a round, null if there was none.
class results {
 public:
  void add(const cell& where, const std::string& contestant, std::size_t round, json line);

  /// Every cell, in the order of measuring.
  const std::vector<cell>& cells() const noexcept { return cells_; }

  /// `metric` of each round, aligned by round; NaN where it is missing. Empty when the contestant
  /// was never measured.
  std::vector<double> rounds_of(const cell& where, const std::string& contestant,
                                const std::string& metric) const;

  /// Median over the rounds.
  std::optional<double> median_of(const cell& where, const std::string& contestant,
                                  const std::string& metric) const;

  /// The first line of a contestant in a cell, for values that do not change (progress, window);
  /// null if there is none.
  json sample_line(const cell& where, const std::string& contestant) const;

  void add_failure(failure what) { failures_.push_back(std::move(what)); }
  const std::vector<failure>& failures() const noexcept { return failures_; }

 private:
  std::vector<cell> cells_;
  std::vector<failure> failures_;
  std::map<std::pair<cell, std::string>, std::vector<json>> lines_;
};

/// Median of a / b over the rounds that have both, with its spread; nothing if there is no such
/// round.
struct ratio {
  double median;
  double p10;
  double p90;
};
std::optional<ratio> paired_ratio(const std::vector<double>& a, const std::vector<double>& b);

/// Runs all series with all contestants, each beside its spinners, and shows the progress on
/// stderr. A contestant that fails is left out of the rest of the series, with its reason on
/// stderr; one that never worked is left out of all series.
results run_rounds(const std::vector<series>& all, const std::vector<contestant>& contestants);

}  // namespace weft::bench
