// SPDX-License-Identifier: Apache-2.0
// Whether a claim of a paper holds here. Noise decides nothing: a claim is undecided as long as its
// spreads, or its runs, do not agree on it.
#pragma once

#include <string>

#include "page/experiment.hpp"
#include "page/figure.hpp"

namespace weft::bench::page {

enum class outcome : unsigned char { holds, fails, undecided, not_measured };

struct verdict {
  outcome is = outcome::not_measured;
  std::string here;  ///< the values: "0.136 against 0.139 µs, 5 runs"
  cause_place cause = cause_place::unknown;
  std::string why;    ///< of a claim that fails, or may: its cause, in words
  bool open = false;  ///< further runs may decide it, or its control
};

/// Compares the two sides in each run. `near` is within a tenth of the larger one.
///
/// Of fewer than `enough_runs` runs every value within the samples' spreads must lead to the same
/// outcome. From then on the medians of the runs must; from `many_runs` on all of them but one. So
/// of true ties chance decides about one in ten. A value without a spread decides nothing before
/// there are enough runs of it.
///
/// A claim that fails is given a cause: weft, if its control holds; the machine, if the control
/// fails, too; else what the claim says. Without both the machine, if no side is weft's, and weft,
/// if one side is another library. One that is undecided has the cause of its description. \param
/// unit of both values, for `here`
verdict judge(const claim& what, const figure& in, const std::string& unit);

inline constexpr std::size_t enough_runs = 5;
inline constexpr std::size_t many_runs = 8;

/// "holds", "fails", "undecided", "not measured".
const char* name_of(outcome is);
/// "weft", "the machine", "the method", "not known".
const char* name_of(cause_place is);

}  // namespace weft::bench::page
