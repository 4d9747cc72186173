// SPDX-License-Identifier: Apache-2.0
// weft-report: repeats the experiments of the papers, and draws what weft-bench has printed.
// README.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "report.hpp"

int main(int argc, char** argv) {
  CLI::App app("Runs the experiments of the papers, and makes one page of HTML of them.");
  app.failure_message(&CLI::FailureMessage::simple);
  weft::bench::add_report(app);
  weft::bench::add_plot(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "weft-report: {}\n", error.what());
    return 1;
  }
}
