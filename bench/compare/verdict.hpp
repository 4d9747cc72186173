// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/rounds.hpp"
#include "compare/series.hpp"

namespace weft::bench {

/// The result of a target at one size.
struct verdict {
  target promise;
  cell where;
  std::string who;                ///< the contestant of role::own that is judged
  std::optional<double> own;      ///< weft's median
  std::string reference;          ///< the contestant compared to; empty if there was none
  std::optional<double> other;    ///< the median of the reference
  std::optional<ratio> to_other;  ///< for targets that are ratios
  enum class outcome { met, falls_short, not_measured } result = outcome::not_measured;
};

/// Compares every target with the figures of each of `own`, some of weft's contestants; `peers` are
/// the libraries' names.
std::vector<verdict> judge(const std::vector<target>& targets, const results& measured,
                           const std::vector<std::string>& own,
                           const std::vector<std::string>& peers);

/// The peer with the best median in `where`, if any was measured.
std::optional<std::string> best_peer(const results& measured, const cell& where,
                                     const std::string& metric,
                                     const std::vector<std::string>& peers);

}  // namespace weft::bench
