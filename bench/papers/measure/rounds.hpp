// SPDX-License-Identifier: Apache-2.0
// Which commands to run once more, so that claims become decided.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "page/experiment.hpp"
#include "page/record.hpp"

namespace weft::bench::page {

/// Every command with a claim runs at least so often in a full report: one run alone may have been
/// lucky, since some speeds differ between processes.
inline constexpr int least_runs = 2;
/// A claim that is still open then stays undecided.
inline constexpr int most_runs = 9;

/// The keys ("PAPER.COMMAND") of commands that claims need once more: those of a claim that is
/// open, or that has had too few runs. A command that has failed, or has run most often, is left
/// out.
std::set<std::string> commands_to_repeat(const std::vector<paper>& papers, const records& measured);

}  // namespace weft::bench::page
