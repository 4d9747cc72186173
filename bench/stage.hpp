// SPDX-License-Identifier: Apache-2.0
// The set-up of a measurement: two processes on two cores, a context in each, an endpoint between
// them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <utility>
#include <weft/weft.hpp>

#include "support/json_lines.hpp"
#include "support/pair.hpp"

namespace weft::bench {

/// The settings of weft for all measurements.
struct settings {
  std::string transport = "shm";
  std::string progress = "dedicated";
  bool pin = true;
  bool as_json = false;
};

/// The settings that a benchmark does not choose itself.
struct choices {
  bool transport = true;
  bool progress = true;
};

/// Adds --transport and --progress, if there is a choice, --no-pin and --json. `into` must outlive
/// the parsing.
void add_settings(CLI::App& app, settings& into, choices open = {true, true});

/// The options of a context: the defaults and WEFT_* variables, with `chosen` on top.
options options_of(const settings& chosen);

/// The head of a line about `bench` with messages of `size` bytes.
line_head head_of(const std::string& bench, const settings& chosen, std::size_t size);

/// One of the two processes, as its coroutine sees it.
struct side {
  context& ctx;
  endpoint peer;
  int rank;  ///< 0 (on the first core) or 1 (on the second)
};

/// One of several contexts of a process, and its peer in the other process: for measurements in
/// turns on different contexts.
struct place {
  context ctx;
  endpoint peer = {};

  explicit place(options chosen) : ctx(std::move(chosen)) {}

  /// Both processes, in the same order of places.
  /// \param address for a listener that only this place uses
  void meet(pair_member& member, const std::string& address);
};

/// Memory that two processes share, by which one passes the address of its listener.
inline constexpr std::size_t longest_address = 256;

/// Tags of the benchmarks' own messages.
inline constexpr tag data_tag{1};
inline constexpr tag ack_tag{2};
inline constexpr tag sync_tag{3};

/// Forks the two processes, connects a context of each with the other's and runs `act` in both,
/// inside `run()`. Process 0 has the parent's stdout, so it may print. Throws std::runtime_error
/// when one of them fails. For a process with one thread and no context.
/// \param apart on two hosts (support/hosts.hpp), where they connect over TCP with a job key
void on_stage(const std::string& name, const settings& chosen, bool apart,
              const std::function<task<void>(side&)>& act);

/// Ends when both sides have called it, by a message each way.
task<void> barrier(const side& me);

}  // namespace weft::bench
