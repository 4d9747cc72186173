// SPDX-License-Identifier: Apache-2.0
// weft-bench: measures weft, the limits of this machine, and other libraries. README.md.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <string>
#include <vector>

#include "commands.hpp"
#include "runtime/descriptors/inherited_state.hpp"
#include "stage/launcher.hpp"
#include "stage/ranks.hpp"
#include "stage/sides.hpp"

namespace {

/// The error in the command line. For an unknown command CLI11 would only report that a command is
/// required.
std::string complaint(const CLI::App* app, const CLI::Error& wrong) {
  if (!app->get_subcommands().empty()) return CLI::FailureMessage::simple(app, wrong);
  std::vector<std::string> names;
  for (const CLI::App* command : app->get_subcommands({})) names.push_back(command->get_name());
  std::string said = "weft-bench needs a command";
  for (const std::string& word : app->remaining())
    if (!word.starts_with('-')) {
      said = fmt::format("there is no command {}", word);
      break;
    }
  return fmt::format("{}; there are: {}\nRun with --help for what each measures.\n", said,
                     fmt::join(names, ", "));
}

using namespace weft::bench;

/// Whether the processes of a launcher can do the command together; otherwise each of them would do
/// all of it.
bool can_be_launched(const CLI::App& command) {
  return has_sides(command) || has_ranks(command) || command.get_name() == "serve";
}

}  // namespace

int main(int argc, char** argv) {
  const weft::runtime::inherited_state inherited;  // it waits for processes that it starts
  CLI::App app("Measures weft: between processes that it starts, ranks of a job, or two hosts.");
  app.require_subcommand(1);
  app.failure_message(&complaint);
  int exit_code = 0;
  try {
    add_commands(app, exit_code);
    for (CLI::App* command : app.get_subcommands({}))
      if (!can_be_launched(*command))
        command->preparse_callback(
            [name = command->get_name()](std::size_t) { refuse_launcher(name); });
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "weft-bench: {}\n", error.what());
    return 1;
  }
  return exit_code;
}
