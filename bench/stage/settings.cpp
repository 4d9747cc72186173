// SPDX-License-Identifier: Apache-2.0
#include "stage/settings.hpp"

#include <map>

namespace weft::bench {
namespace {

const std::map<std::string, progress_mode> modes{{"dedicated", progress_mode::dedicated},
                                                 {"polling", progress_mode::polling},
                                                 {"interrupt", progress_mode::interrupt},
                                                 {"two_threads", progress_mode::two_threads}};

}  // namespace

void add_settings(CLI::App& app, settings& into, choices open) {
  if (open.transport) app.add_option("--transport", into.transport, "Over this transport");
  if (open.progress)
    app.add_option("--progress", into.progress,
                   "Who moves messages: dedicated, polling, interrupt, two_threads")
        ->check(CLI::IsMember({"dedicated", "polling", "interrupt", "two_threads"}));
  app.add_flag_callback(
      "--no-pin", [&into] { into.pin = false; }, "Let the scheduler choose the cores");
  app.add_flag("--json", into.as_json, "JSON lines instead of a table");
}

options options_of(const settings& chosen) {
  options result = options::from_environment();
  result.transports = {"self", chosen.transport};
  result.progress = modes.at(chosen.progress);
  return result;
}

line_head head_of(const std::string& bench, const settings& chosen, std::size_t size) {
  return {.bench = bench, .transport = chosen.transport, .progress = chosen.progress, .size = size};
}

}  // namespace weft::bench
