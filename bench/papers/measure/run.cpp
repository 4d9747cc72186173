// SPDX-License-Identifier: Apache-2.0
#include "measure/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "measure/core_distance.hpp"
#include "measure/guest.hpp"
#include "measure/load.hpp"
#include "measure/progress_line.hpp"
#include "measure/rounds.hpp"

namespace weft::bench::page {
namespace {

record failed(const job& what, std::string problem) {
  return {.command = what.shown, .seconds = 0, .problem = std::move(problem), .lines = {}};
}

void put(records& into, const job& what, const record& made) {
  for (const std::string& key : what.keys) into[key] = made;
}

double sum_of(const std::vector<job>& jobs) {
  return std::accumulate(jobs.begin(), jobs.end(), 0.0,
                         [](double sum, const job& one) { return sum + one.seconds; });
}

/// Jobs of one round, each once. Records are kept in `raw` as they come.
class round_of_jobs {
 public:
  using clock = std::chrono::steady_clock;

  round_of_jobs(const page_options& how, std::filesystem::path raw, records& result)
      : how_(how), raw_(std::move(raw)), result_(result) {}

  void run(const std::vector<job>& here, const std::vector<job>& guest,
           std::optional<clock::time_point> until) {
    if (here.empty() && guest.empty()) return;
    progress_line progress(here.size() + (guest.empty() ? 0 : 1), sum_of(here) + sum_of(guest));
    for (const job& one : here) {
      if (until && clock::now() >= *until) return;
      progress.begin(one.name, one.seconds);
      const auto before = cores_.come_near();
      record made = run_job(one);
      if (before) made.line_ns = std::max(*before, cores_.measure().value_or(0));
      progress.end(made.problem);
      keep(one, std::move(made));
    }
    if (guest.empty() || (until && clock::now() >= *until)) return;
    progress.begin(fmt::format("{} commands in the guest", guest.size()), sum_of(guest));
    // Not in raw itself, where the records of earlier runs are.
    const auto folder = raw_ / "guest";
    std::filesystem::create_directories(folder);
    const double before = settle();
    const load_meter meter;
    const std::string problem = run_guest(guest, how_, folder);
    const double load = std::max(before, meter.cores(true));
    progress.end(problem);
    for (const job& one : guest) {
      auto made = load_record(folder, one.name);
      if (made) made->load = load;
      keep(one, made ? std::move(*made) : failed(one, problem));
    }
    std::filesystem::remove_all(folder);
  }

  /// In a file as well, for a page that is drawn again.
  void keep(const job& one, record made) {
    const auto before = result_.find(one.name);
    if (before != result_.end()) {
      record all = before->second;
      add_run(all, std::move(made));
      made = std::move(all);
    }
    save_record(raw_, one.name, made);
    put(result_, one, made);
  }

 private:
  const page_options& how_;
  std::filesystem::path raw_;
  records& result_;
  core_distance cores_{how_.quick || how_.busy ? std::chrono::seconds(0)
                                               : std::chrono::seconds(20)};
};

}  // namespace

record run_job(const job& what) {
  const double before = settle();
  const load_meter meter;
  const auto begun = std::chrono::steady_clock::now();
  const command_result ended = run_command(what.what, what.limit);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begun;
  record made{.command = what.shown,
              .seconds = elapsed.count(),
              .problem = ended.reason(),
              .lines = parse_lines(ended.out),
              .runs = 1,
              .load = std::max(before, meter.cores(true))};
  if (made.problem.empty() && made.lines.empty()) made.problem = "it printed no JSON line";
  return made;
}

records run_all(const std::vector<paper>& papers, const std::vector<job>& jobs,
                const page_options& how) {
  const auto until = std::chrono::steady_clock::now() +
                     std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                         std::chrono::duration<double, std::ratio<60>>(how.minutes));
  const auto raw = how.out / "raw";
  std::filesystem::create_directories(raw);
  records result;
  round_of_jobs round(how, raw, result);
  const auto is_in_guest = [](const job& one) { return one.guest && !has_rdma_device(); };
  std::vector<job> here, guest;
  for (const job& one : jobs) {
    if (how.keep)
      if (const auto kept = load_record(raw, one.name); kept && kept->ok()) {
        put(result, one, *kept);
        continue;
      }
    if (!one.missing.empty()) {
      round.keep(one, failed(one, one.missing));
      continue;
    }
    (is_in_guest(one) ? guest : here).push_back(one);
  }
  round.run(here, guest, std::nullopt);

  while (!how.quick && std::chrono::steady_clock::now() < until) {
    const auto wanted = commands_to_repeat(papers, result);
    here.clear();
    guest.clear();
    for (const job& one : jobs)
      if (one.missing.empty() &&
          std::any_of(one.keys.begin(), one.keys.end(),
                      [&](const std::string& key) { return wanted.contains(key); }))
        (is_in_guest(one) ? guest : here).push_back(one);
    if (here.empty() && guest.empty()) break;
    fmt::print(stderr, "once more, since claims are open: {} commands\n",
               here.size() + guest.size());
    round.run(here, guest, until);
  }
  return result;
}

records load_all(const std::vector<job>& jobs, const std::filesystem::path& folder) {
  records result;
  for (const job& one : jobs)
    if (const auto kept = load_record(folder / "raw", one.name)) put(result, one, *kept);
  return result;
}

}  // namespace weft::bench::page
