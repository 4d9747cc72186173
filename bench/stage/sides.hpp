// SPDX-License-Identifier: Apache-2.0
// The two sides of a benchmark, however they came to be: forked here, two ranks of a job, or this
// process and one that a server starts on another host (`weft-bench serve`).
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "stage/settings.hpp"
#include "support/pair.hpp"

namespace weft::bench {

/// Adds --to and --key-file. A subcommand with them calls on_sides, on any of its ways. `into` must
/// outlive the parsing. After the options that --to excludes.
void add_side_options(CLI::App& app, settings& into);

/// Whether a subcommand has these options.
inline bool has_sides(const CLI::App& app) { return app.get_option_no_throw("--to") != nullptr; }

/// Runs `body` on the two sides, each placed on a core, and waits for both:
///   * in a process that a server has started, this is side 1;
///   * with --to, this is side 0, and the server there starts side 1 with the same command line;
///   * under a launcher, a rank is a side; its job has to have two ranks;
///   * otherwise both are forked from this process, as by run_pair.
/// Side 0 has this program's standard output. For a process with one thread and no context.
/// \param name  of the subcommand, for messages
/// \param apart on two hosts (support/hosts.hpp), if forked
/// \throws std::runtime_error when one of the two fails, with the reason that it gave
void on_sides(const std::string& name, const settings& chosen,
              const std::function<void(pair_member&)>& body, const hosts* apart = nullptr);

}  // namespace weft::bench
