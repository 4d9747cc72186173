// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "compare/contestant.hpp"
#include "compare/rounds.hpp"
#include "compare/verdict.hpp"

namespace weft::bench {

/// Prints on stdout a table of all contestants' medians for each series, with their means below if
/// `shows_means`, and their descriptions.
void print_figures(const results& measured, const std::vector<contestant>& contestants,
                   bool shows_means);

/// A table of the ratios of `own` to each of the others, where a ratio has a meaning: waits beyond
/// the transfer are near zero, so they have none.
void print_ratios(const results& measured, const std::vector<contestant>& contestants,
                  const std::string& own);

/// A table of weft's figures beside the targets, if there are any.
void print_verdicts(const std::vector<verdict>& verdicts);

/// The contestants that were left out of a series, with the reason; prints nothing if there are
/// none.
void print_failures(const results& measured);

/// All of it as JSON lines of the benchmark `bench`: one for each contestant and cell (with the
/// figure of every round in "rounds", and in those of `own`, if it is not empty, the ratios to each
/// of the others in "ratios"), one for each verdict ("target", "ratio", "outcome"), and one for
/// each contestant that was left out ("left_out").
void print_json(const std::string& bench, const std::string& transport, const results& measured,
                const std::vector<contestant>& contestants, const std::string& own,
                const std::vector<verdict>& verdicts);

}  // namespace weft::bench
