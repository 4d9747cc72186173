// SPDX-License-Identifier: Apache-2.0
#include "page/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace weft::bench::page {
namespace {

/// "figure-5" or "shiba-figure-5" of "shiba".
bool is_named(const paper& in, const experiment& what, const std::string& name) {
  return what.id == name || what.id == in.id + '-' + name;
}

std::string names_of(const std::vector<paper>& all) {
  std::vector<std::string> names;
  for (const paper& one : all) {
    names.push_back(one.id);
    for (const experiment& each : one.experiments) names.push_back(one.id + '/' + each.id);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string missing_of(const measurement& what, const page_options& how) {
  if (what.needs == "mpi" && !(find_program("mpirun.openmpi") && find_program("mpirun.mpich")))
    return "it needs Open MPI and MPICH (packages/bench.txt)";
  if (what.needs == "nas" && how.nas.empty())
    return "it needs the NAS Parallel Benchmarks, which are not part of weft: --nas FOLDER";
  return {};
}

/// In the shell's words: what has other characters than these is quoted.
std::string shell_word(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./,:+@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + '\'';
}

std::string shown_text(const command& what) {
  std::vector<std::string> words;
  for (const auto& [name, content] : what.environment)
    words.push_back(name + '=' + shell_word(content));
  for (const std::string& word : what.argv) words.push_back(shell_word(word));
  return fmt::format("{}", fmt::join(words, " "));
}

/// In a quick run and in a full one, so that the names of records do not depend on that.
bool is_same(const measurement& a, const measurement& b) {
  return a.run == b.run && a.quick == b.quick && a.full == b.full &&
         a.environment == b.environment && a.guest == b.guest && a.needs == b.needs;
}

job job_of(const paper& in, const measurement& what, const page_options& how) {
  job result;
  result.name = in.id + '.' + what.id;
  result.keys = {result.name};
  result.what.argv = what.run;
  const auto add = [&](const std::vector<std::string>& more) {
    result.what.argv.insert(result.what.argv.end(), more.begin(), more.end());
  };
  if (what.needs == "nas" && !how.nas.empty()) add({"--nas", how.nas.string()});
  add(how.quick ? what.quick : what.full);
  const auto& argv = result.what.argv;
  if (std::find(argv.begin(), argv.end(), "--json") == argv.end()) add({"--json"});
  result.what.environment = what.environment;
  result.shown = shown_text(result.what);
  if (what.guest) result.shown = "./dev guest " + result.shown;
  // Programs of this build, not those of another one on PATH.
  if (const auto own = own_folder() / what.run.front(); find_program(own.string()))
    result.what.argv.front() = own.string();
  result.seconds = how.quick ? what.quick_seconds : what.full_seconds;
  const double limit = what.timeout_seconds.value_or(60 + 5 * result.seconds);
  result.limit = std::chrono::seconds(static_cast<long>(std::ceil(limit)));
  result.guest = what.guest;
  result.missing = missing_of(what, how);
  return result;
}

}  // namespace

std::vector<paper> chosen(std::vector<paper> all, const std::vector<std::string>& only) {
  if (only.empty()) return all;
  const std::string names = names_of(all);
  std::vector<bool> used(only.size());
  for (paper& one : all) {
    const auto is_wanted = [&](const experiment& each) {
      bool wanted = false;
      for (std::size_t i = 0; i != only.size(); ++i) {
        const auto slash = only[i].find('/');
        if (only[i].substr(0, slash) != one.id) continue;
        if (slash != std::string::npos && !is_named(one, each, only[i].substr(slash + 1))) continue;
        used[i] = wanted = true;
      }
      return wanted;
    };
    std::erase_if(one.experiments, [&](const experiment& each) { return !is_wanted(each); });
  }
  for (std::size_t i = 0; i != only.size(); ++i)
    if (!used[i])
      throw std::invalid_argument(
          fmt::format("there is no experiment {}; there are: {}", only[i], names));
  std::erase_if(all, [](const paper& one) { return one.experiments.empty(); });
  for (paper& one : all) one.unavailable.clear();
  return all;
}

std::vector<job> plan_of(const std::vector<paper>& papers, const page_options& how) {
  std::vector<job> result;
  std::vector<const measurement*> planned;  // of result, in its order
  for (const paper& in : papers)
    for (const experiment& each : in.experiments)
      for (const measured_series& one : each.series) {
        const measurement& what = in.commands.at(one.command);
        const std::string key = in.id + '.' + what.id;
        const auto same = std::find_if(planned.begin(), planned.end(),
                                       [&](const auto* other) { return is_same(*other, what); });
        if (same == planned.end()) {
          planned.push_back(&what);
          result.push_back(job_of(in, what, how));
          continue;
        }
        auto& keys = result[static_cast<std::size_t>(same - planned.begin())].keys;
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
      }
  std::stable_partition(result.begin(), result.end(), [](const job& one) { return !one.guest; });
  return result;
}

std::filesystem::path own_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

std::filesystem::path default_papers() {
  const auto own = own_folder();
  if (const auto shared = own.parent_path() / "share/weft/papers"; is_directory(shared))
    return shared;
  for (auto folder = own; folder != folder.root_path(); folder = folder.parent_path())
    if (const auto beside = folder / "bench/papers/experiments"; is_directory(beside))
      return beside;
  throw std::invalid_argument(
      fmt::format("the descriptions of experiments are neither in {} nor in a folder "
                  "bench/papers/experiments above {}; say "
                  "where they are: --papers FOLDER",
                  (own.parent_path() / "share/weft/papers").string(), own.string()));
}

}  // namespace weft::bench::page
