// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "compare/contestant.hpp"
#include "compare/rounds.hpp"
#include "compare/verdict.hpp"

namespace weft::bench {

/// Two tables on stdout: the medians of everybody, and weft's figures beside the targets.
void print_tables(const results& measured, const std::vector<contestant>& contestants,
                  const std::vector<verdict>& verdicts);

/// The same as JSON lines: one for each contestant and cell (with the figure of every round in
/// "rounds"), and one for each verdict ("target", "ratio", "met").
void print_json(const results& measured, const std::vector<contestant>& contestants,
                const std::vector<verdict>& verdicts, const std::string& transport);

}  // namespace weft::bench
