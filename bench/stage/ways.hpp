// SPDX-License-Identifier: Apache-2.0
// Several ways to do the same, compared in the same two processes. The ways take turns: the machine
// drifts by factors within minutes, and the figures of one round were taken in the same state of
// it.
#pragma once

#include <CLI/CLI.hpp>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stage/report.hpp"
#include "stage/settings.hpp"
#include "stage/sides.hpp"
#include "support/job.hpp"

namespace weft::bench {

/// Calls act(way) for each of `count` ways, `rounds` times. The order changes with the round, so
/// that no way always follows the same other one.
template <std::invocable<std::size_t> Act>
void in_turns(int rounds, std::size_t count, Act act) {
  for (std::size_t round = 0; round < static_cast<std::size_t>(rounds); ++round)
    for (std::size_t turn = 0; turn != count; ++turn) act((turn + round) % count);
}

/// The command line of a subcommand that compares ways.
struct ways_request {
  settings chosen{};
  job what{};
  int rounds = 11;
};

/// For each way the median of each round; those of one round are at the same place.
using medians_of_rounds = std::vector<std::vector<double>>;

/// The ways of one comparison. Both sides have the same ones.
struct ways {
  std::size_t count;
  /// Both sides call it at once. Side 0 returns samples, of which the median counts for this round.
  std::function<std::vector<double>(std::size_t way, std::size_t size)> measure;
  /// Side 0 calls it after the last round of a size: the line of a way.
  std::function<json(std::size_t way, std::size_t size, const medians_of_rounds& all)> line;
};

/// Measures all ways in turns, for each size of the request, and prints their lines on side 0. Both
/// sides call it, and it returns when both have ended: then contexts may end.
/// \param title of the table: what is measured; how follows behind it
void compare(pair_member& member, const ways_request& wanted, const std::string& title,
             std::vector<column> columns, const ways& all);

/// Adds --rounds, and the options of the job, of the settings and of the sides. `into` must outlive
/// the parsing.
void add_ways_options(CLI::App& sub, ways_request& into, choices open);

/// Adds a subcommand that runs act(member, wanted) on both sides. \return it, for more options
template <std::derived_from<ways_request> Request>
CLI::App& add_ways_command(CLI::App& app, const std::string& about, std::shared_ptr<Request> wanted,
                           void (*act)(pair_member&, const Request&), choices open = {}) {
  const std::string name = wanted->what.bench;
  CLI::App* const sub = app.add_subcommand(name, about);
  add_ways_options(*sub, *wanted, open);
  sub->callback([name, wanted, act] {
    on_sides(name, wanted->chosen, [&](pair_member& member) { act(member, *wanted); });
  });
  return *sub;
}

}  // namespace weft::bench
