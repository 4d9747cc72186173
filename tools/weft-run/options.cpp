// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weft::run {

namespace {

constexpr const char* description =
    "Starts a program several times on this machine, as the ranks of one job.\n"
    "Inside, a weft context finds the others by itself.";

constexpr const char* details =
    "Everything after the program's name belongs to the program.\n"
    "\n"
    "Each rank finds in its environment:\n"
    "  WEFT_RANK        its number, from 0\n"
    "  WEFT_SIZE        how many ranks there are\n"
    "  WEFT_LOCAL_SIZE  how many of them run on this host\n"
    "  WEFT_JOB         where the launcher tells who listens where\n"
    "\n"
    "Rank 0 gets the standard input, the others none. Whole lines of output are never mixed.\n"
    "SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are passed on to all ranks; a second\n"
    "SIGINT or SIGTERM kills them. When a rank's process ends, what it left running is killed, "
    "too.\n"
    "For SIGQUIT (Ctrl-\\) each rank with a weft context prints what it waits for, and goes on\n"
    "(WEFT_DUMP_SIGNAL=none: it ends).\n"
    "\n"
    "Exit status: that of the rank that failed first and was not started again (128 + the\n"
    "signal's number if a signal killed it), 124 after --timeout, 126 or 127 if the program\n"
    "could not be started, 2 for a wrong command line, 1 if their output could not be written;\n"
    "else 0.\n"
    "\n"
    "Examples:\n"
    "  weft-run -n 4 ./heat picture.pgm\n"
    "  weft-run -n 2 --bind --no-label ./pingpong\n"
    "  weft-run -n 8 --timeout 60 --output results ./solve\n"
    "  weft-run -n 4 --restart 3 ./survive --replace\n";

struct formatter final : CLI::Formatter {
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: weft-run -n N [options] program [arguments...]\n";
  }
};

/// weft-run's own arguments with -n for the -np of other launchers, which CLI11 would read as -n p;
/// the program's are left alone. Last first, as CLI11 wants them.
std::vector<std::string> arguments(int argc, char** argv) {
  std::vector<std::string> all;
  bool own = true;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const std::string_view before = i > 1 ? argv[i - 1] : "";
    const bool value = before == "-n" || before == "-np" || before == "--ranks" || before == "-g" ||
                       before == "--grace" || before == "--call-tree-messages" ||
                       before == "--trace" || before == "-t" || before == "--timeout" ||
                       before == "-o" || before == "--output" || before == "-r" ||
                       before == "--restart";
    if (argument == "--" || (!argument.starts_with('-') && !value)) own = false;
    all.emplace_back(own && argument == "-np" ? "-n" : argument);
  }
  return {all.rbegin(), all.rend()};
}

}  // namespace

bool parse(int argc, char** argv, options& into, int& exit_status) {
  CLI::App app{description, "weft-run"};
  app.footer(details);
  app.formatter(std::make_shared<formatter>());
  app.add_option("-n,--ranks", into.ranks, "How many ranks to start; -np is the same")
      ->required()
      ->check(CLI::Range(1u, 4096u));
  bool no_label = false;
  auto* label =
      app.add_flag("-l,--label,--tag-output", into.label,
                   "Put [rank] in front of each line of output, which is the default with "
                   "more than one rank");
  app.add_flag("-L,--no-label", no_label, "Do not")->excludes(label);
  app.add_flag("-b,--bind", into.bind,
               "Pin rank i to core i, counted round the cores that this process may use");
  app.add_flag("-k,--kill-on-failure", into.kill_on_failure,
               "When a rank fails, end the others (SIGTERM, after the grace period SIGKILL); "
               "otherwise they get a notice and go on");
  app.add_option("-r,--restart", into.restarts,
                 "Start a rank that fails again, up to so many times; it takes its place again by "
                 "group::replace. Not rank 0, without which no process comes back")
      ->type_name("TIMES")
      ->check(CLI::Range(0u, 1000000u));
  app.add_option("-g,--grace", into.grace, "The grace period in seconds")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 3600.0));
  app.add_option("-t,--timeout", into.timeout,
                 "End the ranks after so many seconds: each one with a weft context prints what it "
                 "waits for, and then they are ended as after a failure")
      ->check(CLI::Range(0.001, 1e8));
  app.add_option("-o,--output", into.output,
                 "Write what each rank prints to files in this folder: rank.0.out, rank.0.err ...");
  app.add_flag("--call-tree{stderr}", into.call_tree,
               "Write the steps of every rank's messages: to the standard error, or to a file for "
               "each rank (--call-tree=tree.txt makes tree.0.txt, ...)");
  app.add_option("--call-tree-messages", into.call_tree_messages,
                 "End each rank's call tree after so many messages");
  app.add_option("--trace", into.trace,
                 "Record all ranks, and write one file at the end of the job, on one clock, for "
                 "https://ui.perfetto.dev")
      ->type_name("FILE");
  app.prefix_command();

  try {
    app.parse(arguments(argc, argv));
    into.command = app.remaining();
    const bool after_mark = !into.command.empty() && into.command.front() == "--";
    if (after_mark) into.command.erase(into.command.begin());
    if (into.command.empty()) throw CLI::RequiredError("program");
    if (!after_mark && into.command.front().starts_with('-'))
      throw CLI::ExtrasError({into.command.front()});
  } catch (const CLI::ParseError& e) {
    exit_status = app.exit(e) == 0 ? 0 : 2;
    return false;
  }
  into.label = !no_label && (into.label || into.ranks > 1);
  return true;
}

}  // namespace weft::run
