// SPDX-License-Identifier: Apache-2.0
// Several ways to do the same that take turns as coroutines on one context of each side. (For ways
// with a context each, or without coroutines: ways.hpp.)
#pragma once

#include <CLI/CLI.hpp>
#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "stage/report.hpp"
#include "stage/stage.hpp"

namespace weft::bench {

/// The command line of a subcommand whose ways take turns.
struct turns_request {
  settings chosen{};
  int rounds = 15;
};

/// Awaits act(way, counts) for each of `ways` ways: once to warm up, without `counts`, and then
/// `rounds` times. The order changes with the round, so that no way always follows the same other
/// one. Both sides await it.
/// \param act (std::size_t way, bool counts) -> task<void>
template <class Act>
task<void> take_turns(int rounds, std::size_t ways, Act act) {
  for (std::size_t round = 0; round <= static_cast<std::size_t>(rounds); ++round)
    for (std::size_t turn = 0; turn != ways; ++turn)
      co_await act((turn + round) % ways, round != 0);
}

/// Awaits act(out), and prints on side 0 what it has added. Both sides begin and end together.
/// \param act (report&) -> task<void>; adds lines on side 0
template <class Act>
task<void> with_report(const side& me, const settings& chosen, const std::vector<column>& columns,
                       Act act) {
  report out(columns, chosen.as_json);
  co_await barrier(me);
  if (me.rank == 0) out.title(me.peer.describe());
  co_await act(out);
  if (me.rank == 0) out.finish();
  co_await barrier(me);
}

/// Adds a subcommand with --rounds and the options of the settings and of the sides, which awaits
/// act(side, wanted) on both sides. \return it, for more options
template <std::derived_from<turns_request> Request>
CLI::App& add_turns_command(CLI::App& app, const std::string& name, const std::string& about,
                            std::shared_ptr<Request> wanted,
                            task<void> (*act)(side&, const Request&)) {
  CLI::App* const sub = app.add_subcommand(name, about);
  sub->add_option("--rounds", wanted->rounds, "Turns of each")->check(CLI::PositiveNumber);
  add_settings(*sub, wanted->chosen);
  add_side_options(*sub, wanted->chosen);
  sub->callback([name, wanted, act] {
    on_stage(name, wanted->chosen, false, [&](side& me) { return act(me, *wanted); });
  });
  return *sub;
}

}  // namespace weft::bench
