// SPDX-License-Identifier: Apache-2.0
#include "page/page.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "html/html.hpp"
#include "measure/load.hpp"
#include "measure/machine.hpp"
#include "measure/progress_line.hpp"
#include "measure/run.hpp"
#include "output/table.hpp"

namespace weft::bench::page {
namespace {

std::vector<paper> papers_of(const page_options& how) {
  return chosen(read_papers(how.papers.empty() ? default_papers() : how.papers), how.only);
}

json kept_machine(const std::filesystem::path& folder) {
  const auto text = read_file(folder / "raw" / "machine.json");
  const json parsed = text ? json::parse(*text, nullptr, false) : json();
  if (!parsed.is_object())
    throw std::invalid_argument(fmt::format(
        "there is no page in {}: its raw/machine.json is missing or broken", folder.string()));
  return parsed;
}

}  // namespace

std::filesystem::path make_page(const page_options& how, const std::string& weft) {
  const auto papers = papers_of(how);
  const auto jobs = plan_of(papers, how);
  std::filesystem::create_directories(how.out / "raw");
  json machine;
  records measured;
  if (!how.from.empty()) {
    machine = kept_machine(how.from);
    measured = load_all(jobs, how.from);
  } else {
    const std::string busy = busy_text();
    if (!busy.empty() && !how.busy)
      throw std::runtime_error(fmt::format(
          "the machine is busy: {}, so measurements would say little of weft. End that, or wait; "
          "with --busy it measures all the same, and the page says so",
          busy));
    machine = describe_machine(how.revision.empty() ? weft : weft + ", " + how.revision, how.quick);
    if (!busy.empty()) machine["busy"] = busy;
    measured = run_all(papers, jobs, how);
    write_file(how.out / "raw" / "machine.json", machine.dump(1) + '\n');
  }
  write_file(how.out / "verdicts.json", verdicts_of(papers, measured).dump(1) + '\n');
  const auto page = how.out / "report.html";
  write_file(page, html_of(papers, measured, machine));
  return page;
}

void list_experiments(const page_options& how) {
  const auto papers = papers_of(how);
  table rows({"experiment", "label", "claims", "title"});
  rows.left_from(1);
  for (const paper& of : papers)
    for (const experiment& what : of.experiments)
      rows.row(
          {of.id + '/' + what.id, what.label, fmt::format("{}", what.claims.size()), what.title});
  rows.print(stdout);
  double seconds = 0;
  std::size_t guest = 0;
  const auto jobs = plan_of(papers, how);
  for (const job& one : jobs) {
    if (!one.missing.empty()) continue;
    seconds += one.seconds;
    guest += one.guest ? 1 : 0;
  }
  fmt::print("\n{} commands, {} of them for an RDMA device; about {}\n", jobs.size(), guest,
             duration_text(seconds));
}

}  // namespace weft::bench::page
