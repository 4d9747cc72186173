// SPDX-License-Identifier: Apache-2.0
#include "page/figure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "page/select.hpp"

namespace weft::bench::page {
namespace {

/// The message in one line.
std::string in_short(std::string problem) {
  std::replace(problem.begin(), problem.end(), '\n', ' ');
  constexpr std::size_t most = 240;
  return problem.size() > most ? problem.substr(0, most) + " …" : problem;
}

std::optional<value> find(const std::vector<value>& in, const json& x) {
  const auto found =
      std::find_if(in.begin(), in.end(), [&](const value& one) { return one.x == x; });
  return found == in.end() ? std::nullopt : std::optional<value>(*found);
}

/// Each value as a multiple of the base's at the same x, run by run; those without one are gone.
std::vector<value> relative(const std::vector<value>& values, const std::vector<value>& base) {
  std::vector<value> result;
  for (const value& one : values) {
    const auto unit = find(base, one.x);
    if (!unit || !(unit->y > 0)) continue;
    result.push_back({one.x, one.y / unit->y, one.low / unit->y, one.high / unit->y, {}});
    for (const run_value& run : one.runs) {
      const auto same = std::find_if(unit->runs.begin(), unit->runs.end(),
                                     [&](const run_value& other) { return other.run == run.run; });
      if (same != unit->runs.end() && same->y > 0)
        result.back().runs.push_back(
            {run.run, run.y / same->y, run.low / same->y, run.high / same->y});
    }
  }
  return result;
}

std::vector<value> points_of(const figure& in, const std::string& name) {
  for (const auto& one : in.all)
    if (one.name == name) return one.points;
  return {};
}

}  // namespace

figure figure_of(const paper& of, const experiment& what, const records& measured) {
  figure result;
  std::map<std::string, std::vector<std::string>> failed;  // commands, with their series
  for (const auto& one : what.series) {
    figure_series made{.name = one.name, .role = one.role, .points = {}, .like = {}, .source = {}};
    const auto found = measured.find(of.id + '.' + one.command);
    if (found != measured.end() && !found->second.lines.empty())
      made.points = select(one, found->second, result.notes);
    else
      failed[one.command].push_back(one.name);
    result.all.push_back(std::move(made));
  }
  for (const auto& [name, series] : failed) {
    const auto found = measured.find(of.id + '.' + name);
    result.notes.push_back(fmt::format(
        "Not measured: {}. The command {} {}", fmt::join(series, "; "), name,
        found == measured.end() ? "was not run."
                                : "gave no result: " + in_short(found->second.problem)));
  }
  for (const auto& one : what.paper)
    result.all.push_back({.name = one.name,
                          .quoted = true,
                          .points = one.points,
                          .like = one.like,
                          .source = one.source});
  if (what.relative_to.empty()) return result;

  const figure absolute = result;
  const auto base = points_of(absolute, what.relative_to);
  if (base.empty())
    result.notes.push_back(
        fmt::format("{} was not measured, so there is nothing to relate to.", what.relative_to));
  for (std::size_t i = 0; i != what.series.size(); ++i)
    result.all[i].points = relative(result.all[i].points, base);
  for (std::size_t i = 0; i != what.paper.size(); ++i)
    if (const auto& own = what.paper[i].relative_to; !own.empty())
      result.all[what.series.size() + i].points =
          relative(what.paper[i].points, points_of(absolute, own));
  return result;
}

std::optional<value> value_at(const figure& in, const std::string& series, const json& x) {
  return find(points_of(in, series), x);
}

std::string shown_unit(const experiment& what) {
  return what.relative_to.empty() ? what.y.unit : std::string{};
}

std::string unit_in_words(const experiment& what) {
  return what.relative_to.empty() ? what.y.unit : "times that of " + what.relative_to;
}

}  // namespace weft::bench::page
