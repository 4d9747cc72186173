// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace weft::bench::raw {

/// Adds the subcommand `raw` to `app`: every limit, or those named, as a table or as JSON lines. It
/// runs when CLI11 calls the subcommand's callback, at the end of parsing; exceptions of measuring
/// pass through.
void add_raw_command(CLI::App& app);

}  // namespace weft::bench::raw
