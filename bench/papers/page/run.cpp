// SPDX-License-Identifier: Apache-2.0
#include "page/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "page/guest.hpp"
#include "page/progress_line.hpp"

namespace weft::bench::page {
namespace {

record failed(const job& what, std::string problem) {
  return {.command = what.shown, .seconds = 0, .problem = std::move(problem), .lines = {}};
}

void put(records& into, const job& what, const record& made) {
  for (const std::string& key : what.keys) into[key] = made;
}

}  // namespace

record run_job(const job& what) {
  const auto begun = std::chrono::steady_clock::now();
  const command_result ended = run_command(what.what, what.limit);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begun;
  record made{.command = what.shown,
              .seconds = elapsed.count(),
              .problem = ended.reason(),
              .lines = parse_lines(ended.out)};
  if (made.problem.empty() && made.lines.empty()) made.problem = "it printed no JSON line";
  return made;
}

records run_all(const std::vector<job>& jobs, const page_options& how) {
  const auto raw = how.out / "raw";
  std::filesystem::create_directories(raw);
  records result;
  // In a file as well, for a page that is drawn again.
  const auto keep_failure = [&](const job& one, const std::string& why) {
    const record made = failed(one, why);
    save_record(raw, one.name, made);
    put(result, one, made);
  };
  std::vector<job> here, guest;
  for (const job& one : jobs) {
    if (how.keep)
      if (const auto kept = load_record(raw, one.name); kept && kept->ok()) {
        put(result, one, *kept);
        continue;
      }
    if (!one.missing.empty()) {
      keep_failure(one, one.missing);
      continue;
    }
    (one.guest && !has_rdma_device() ? guest : here).push_back(one);
  }

  const auto seconds = [](double sum, const job& one) { return sum + one.seconds; };
  const double in_guest = std::accumulate(guest.begin(), guest.end(), 0.0, seconds);
  progress_line progress(here.size() + (guest.empty() ? 0 : 1),
                         std::accumulate(here.begin(), here.end(), in_guest, seconds));
  for (const job& one : here) {
    progress.begin(one.name, one.seconds);
    const record made = run_job(one);
    progress.end(made.problem);
    save_record(raw, one.name, made);
    put(result, one, made);
  }
  if (!guest.empty()) {
    progress.begin(fmt::format("{} commands in the guest", guest.size()), in_guest);
    const std::string problem = run_guest(guest, how, raw);
    progress.end(problem);
    for (const job& one : guest) {
      if (const auto made = load_record(raw, one.name))
        put(result, one, *made);
      else
        keep_failure(one, problem);
    }
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
