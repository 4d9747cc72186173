// SPDX-License-Identifier: Apache-2.0
// What weft-report can do. Each works in the callback that CLI11 calls at the end of parsing.
#pragma once

#include <CLI/CLI.hpp>

namespace weft::bench {

/// Gives `app` the options of the report, which is made if no subcommand is named.
void add_report(CLI::App& app);
/// Adds the subcommand `plot`: a picture of JSON lines.
void add_plot(CLI::App& app);

}  // namespace weft::bench
