// SPDX-License-Identifier: Apache-2.0
#include "page/select.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "output/stats.hpp"

namespace weft::bench::page {
namespace {

bool matches(const json& line, const json& select) {
  return std::all_of(select.items().begin(), select.items().end(), [&](const auto& wanted) {
    const auto found = line.find(wanted.key());
    if (found == line.end()) return false;
    const json& one_of = wanted.value();
    if (one_of.is_array()) return std::find(one_of.begin(), one_of.end(), *found) != one_of.end();
    return *found == one_of;
  });
}

double number(const json& line, const std::string& key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number() ? found->get<double>() : plot::no_value;
}

/// The medians of several lines at one place.
run_value merged(const std::vector<run_value>& same) {
  const auto middle = [&](double run_value::*part) {
    std::vector<double> all;
    for (const run_value& one : same)
      if (plot::has_place(one.*part, plot::scale_kind::linear)) all.push_back(one.*part);
    return all.empty() ? plot::no_value : median(all);
  };
  return {same.front().run, middle(&run_value::y), middle(&run_value::low),
          middle(&run_value::high)};
}

/// The lines of one place.
struct place_lines {
  json x;
  std::vector<run_value> lines;
};

/// Those of each run become their medians, and these the value.
value value_of(const place_lines& from) {
  std::map<int, std::vector<run_value>> by_run;
  for (const run_value& one : from.lines) by_run[one.run].push_back(one);
  value result{.x = from.x};
  for (const auto& [run, same] : by_run) result.runs.push_back(merged(same));
  const run_value all = merged(result.runs);
  result.y = all.y;
  result.low = all.low;
  result.high = all.high;
  return result;
}

/// Fewer samples have no spread that says anything.
constexpr std::size_t least_samples = 3;

/// The spread that a line has: by its keys, or by the values of all its rounds.
void add_spread(run_value& to, const measured_series& what, const json& line) {
  if (what.spread) {
    if (number(line, "samples") < static_cast<double>(least_samples)) return;
    to.low = number(line, (*what.spread)[0]) * what.factor;
    to.high = number(line, (*what.spread)[1]) * what.factor;
    return;
  }
  const auto rounds = line.find("rounds");
  if (rounds == line.end() || line.value("metric", "") != what.y || !rounds->is_array()) return;
  std::vector<double> all;
  for (const json& one : *rounds)
    if (one.is_number()) all.push_back(one.get<double>());
  if (all.size() < least_samples) return;
  const summary spread = summarise(all);
  to.low = spread.p10 * what.factor;
  to.high = spread.p90 * what.factor;
}

/// Why a program of `select` took no part, if a line says so.
std::string left_out(const record& from, const json& select) {
  for (const json& line : from.lines)
    if (line.contains("left_out") && line.contains("reason") && select.contains("contestant") &&
        line.value("contestant", json()) == select["contestant"])
      return line["reason"].is_string() ? line["reason"].get<std::string>() : line["reason"].dump();
  return {};
}

/// The values that lines must have: "contestant MPICH, size 8 or 64".
std::string in_words(const json& select) {
  const auto text = [](const json& one) {
    return one.is_string() ? one.get<std::string>() : one.dump();
  };
  std::vector<std::string> all;
  for (const auto& [key, wanted] : select.items()) {
    std::vector<std::string> choices;
    if (wanted.is_array())
      for (const json& one : wanted) choices.push_back(text(one));
    else
      choices.push_back(text(wanted));
    all.push_back(fmt::format("{} {}", key, fmt::join(choices, " or ")));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string keys_of(const std::vector<json>& lines) {
  std::set<std::string> keys;
  for (const json& line : lines)
    for (const auto& [key, content] : line.items()) keys.insert(key);
  return fmt::format("{}", fmt::join(keys, ", "));
}

/// Why there is no value at all.
std::string missing(const measured_series& what, const record& from, std::size_t selected) {
  if (selected > 0)
    return fmt::format("{}: the lines of {} with {} have no {} and {}; their keys are: {}.",
                       what.name, what.command, in_words(what.select), what.x.dump(), what.y,
                       keys_of(from.lines));
  if (const auto reason = left_out(from, what.select); !reason.empty())
    return fmt::format("{}: left out, since {}", what.name, reason);
  if (!what.absent.empty()) return fmt::format("{}: left out, since {}.", what.name, what.absent);
  return fmt::format("{}: {} has measured nothing with {}.", what.name, what.command,
                     in_words(what.select));
}

}  // namespace

std::vector<value> select(const measured_series& what, const record& from,
                          std::vector<std::string>& notes) {
  std::vector<place_lines> places;
  std::size_t most = 0, selected = 0;
  for (const json& line : from.lines) {
    if (!matches(line, what.select)) continue;
    ++selected;
    const json x =
        what.x.is_object() ? what.x["value"] : line.value(what.x.get<std::string>(), json());
    const double y = number(line, what.y) * what.factor;
    if (x.is_null() || !plot::has_place(y, plot::scale_kind::linear)) continue;
    run_value one{.run = line.value("run", 1), .y = y};
    add_spread(one, what, line);
    auto place = std::find_if(places.begin(), places.end(),
                              [&](const place_lines& same) { return same.x == x; });
    if (place == places.end())
      place = places.insert(places.end(), place_lines{.x = x, .lines = {}});
    auto& lines = place->lines;
    lines.push_back(one);
    const auto of_run = std::count_if(lines.begin(), lines.end(),
                                      [&](const run_value& other) { return other.run == one.run; });
    most = std::max(most, static_cast<std::size_t>(of_run));
  }
  if (places.empty()) notes.push_back(missing(what, from, selected));
  if (most > 1)
    notes.push_back(
        fmt::format("{}: up to {} lines for one place; medians are shown.", what.name, most));
  std::vector<value> result;
  for (const place_lines& one : places) result.push_back(value_of(one));
  if (std::all_of(result.begin(), result.end(), [](const value& one) { return one.x.is_number(); }))
    std::stable_sort(result.begin(), result.end(),
                     [](const value& a, const value& b) { return a.x < b.x; });
  return result;
}

}  // namespace weft::bench::page
