// SPDX-License-Identifier: Apache-2.0
// The experiments of the papers as one page. page/ does the work.
#include <fmt/format.h>

#include <memory>
#include <weft/build.hpp>

#include "measure/run.hpp"
#include "page/page.hpp"
#include "report.hpp"

namespace weft::bench {
namespace {

struct page_request {
  page::page_options how;
  bool list = false;
  std::string guest_commands;
};

void act(const page_request& wanted) {
  if (!wanted.guest_commands.empty()) return page::run_in_guest(wanted.guest_commands);
  if (wanted.list) return page::list_experiments(wanted.how);
  const auto page = page::make_page(wanted.how, weft::version());
  fmt::print("{}\n", std::filesystem::absolute(page).lexically_normal().string());
}

}  // namespace

void add_report(CLI::App& app) {
  auto wanted = std::make_shared<page_request>();
  auto& how = wanted->how;
  app.add_flag("--quick", how.quick, "Few samples");
  app.add_option("--papers", how.papers, "The folder that describes the experiments")
      ->check(CLI::ExistingDirectory)
      ->take_last();
  app.add_option("--only", how.only, "These papers or experiments: elan4,shiba/figure-5")
      ->delimiter(',');
  auto* out =
      app.add_option("--out", how.out, "The folder for report.html, and for raw/ with all results")
          ->capture_default_str()
          ->take_last();
  app.add_option("--nas", how.nas,
                 "The folder of the NAS Parallel Benchmarks, for experiments with them")
      ->check(CLI::ExistingDirectory);
  app.add_option("--guest", how.guest,
                 "The script that runs a command where there is an RDMA device")
      ->check(CLI::ExistingFile);
  app.add_option("--guest-seconds", how.guest_seconds,
                 "How long it may be silent, beyond the limit of its longest command")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  auto* from =
      app.add_option("--from", how.from, "Run nothing: draw the results in that folder's raw/")
          ->check(CLI::ExistingDirectory);
  app.add_flag("--keep", how.keep, "Run only what has no result in raw/ yet")->excludes(from);
  app.add_flag("--busy", how.busy, "Measure although other processes use the machine");
  app.add_option("--time-limit", how.minutes,
                 "After so many minutes no command is run again to decide a claim")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--revision", how.revision, "The sources' revision, for the page");
  app.add_flag("--list", wanted->list, "Only list the experiments, and how long they take");
  app.add_option("--guest-commands", wanted->guest_commands)->group("");
  app.callback([&app, wanted, from, out] {
    if (!app.get_subcommands().empty()) return;
    if (from->count() > 0 && out->count() == 0) wanted->how.out = wanted->how.from;
    act(*wanted);
  });
}

}  // namespace weft::bench
