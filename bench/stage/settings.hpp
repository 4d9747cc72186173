// SPDX-License-Identifier: Apache-2.0
// The settings of weft for all measurements, and their options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <weft/options.hpp>

#include "output/json_lines.hpp"

namespace weft::bench {

struct settings {
  std::string transport = "shm";
  std::string progress = "dedicated";
  bool pin = true;
  bool as_json = false;
  std::string to = {};        ///< the server of the other side: "host", "host:port"; empty: none
  std::string key_file = {};  ///< with the key of that server; empty: the environment's
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

}  // namespace weft::bench
