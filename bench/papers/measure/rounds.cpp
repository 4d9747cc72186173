// SPDX-License-Identifier: Apache-2.0
#include "measure/rounds.hpp"

#include <algorithm>

#include "page/figure.hpp"
#include "page/verdict.hpp"

namespace weft::bench::page {
namespace {

/// The commands whose values a claim compares.
std::set<std::string> commands_of(const claim& what, const experiment& in, const std::string& of) {
  std::vector<std::string> names{what.left.series, what.right.series, in.relative_to};
  if (what.control)
    names.insert(names.end(), {what.control->left.series, what.control->right.series});
  std::set<std::string> result;
  for (const measured_series& one : in.series)
    if (std::find(names.begin(), names.end(), one.name) != names.end())
      result.insert(of + '.' + one.command);
  return result;
}

}  // namespace

std::set<std::string> commands_to_repeat(const std::vector<paper>& papers,
                                         const records& measured) {
  std::set<std::string> result;
  const auto can_run = [&](const std::string& key, int most) {
    const auto found = measured.find(key);
    return found != measured.end() && found->second.ok() && found->second.runs < most;
  };
  for (const paper& of : papers)
    for (const experiment& what : of.experiments) {
      const figure shown = figure_of(of, what, measured);
      for (const claim& one : what.claims) {
        const verdict made = judge(one, shown, {});
        const int most = made.open ? most_runs : least_runs;
        if (made.is == outcome::not_measured) continue;
        // Runs are compared in pairs, so the commands of a claim run together.
        for (const std::string& key : commands_of(one, what, of.id))
          if (can_run(key, most)) result.insert(key);
      }
    }
  return result;
}

}  // namespace weft::bench::page
