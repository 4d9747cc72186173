// SPDX-License-Identifier: Apache-2.0
#include "page/lines_chart.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include "output/table.hpp"

namespace weft::bench::page {
namespace {

std::string text_of(const json& what) {
  return what.is_string() ? what.get<std::string>() : what.dump();
}

/// The value of a key in a name: "shm", "4 KiB", "ranks 4".
std::string value_of(const json& line, const std::string& key) {
  const json& what = line[key];
  if (what.is_string()) return what.get<std::string>();
  if (key == "size" && what.is_number_unsigned()) return size_text(what.get<std::size_t>());
  return key + ' ' + what.dump();
}

[[noreturn]] void no_key(const std::string& key, const std::vector<json>& lines, bool numbers) {
  std::set<std::string> keys;
  for (const json& line : lines)
    for (const auto& [name, content] : line.items())
      if (!numbers || content.is_number()) keys.insert(name);
  throw std::invalid_argument(fmt::format("no line has {}{}; the keys{} are: {}", key,
                                          numbers ? " as a number" : "",
                                          numbers ? " with numbers" : "", fmt::join(keys, ", ")));
}

std::vector<json> with_key(const std::vector<json>& lines, const std::string& key, bool numbers) {
  std::vector<json> result;
  std::copy_if(lines.begin(), lines.end(), std::back_inserter(result), [&](const json& line) {
    return line.contains(key) && (!numbers || line[key].is_number());
  });
  if (result.empty()) no_key(key, lines, numbers);
  return result;
}

std::size_t values_of(const std::vector<json>& lines, const std::string& key) {
  std::set<std::string> values;
  for (const json& line : lines)
    if (line.contains(key)) values.insert(line[key].dump());
  return values.size();
}

/// Sizes, else another count, else a text that differs.
std::string choose_x(const std::vector<json>& lines) {
  for (const char* key : {"size", "chunk", "ranks", "threads", "window", "peers", "compute_us"})
    if (values_of(lines, key) > 1) return key;
  const auto keys = series_keys(lines, "");
  return keys.empty() ? lines.front().begin().key() : keys.front();
}

plot::axis axis_of(const std::string& key, const std::vector<double>& values) {
  plot::axis result{.label = key, .unit = "", .scale = plot::scale_kind::linear};
  if (key == "size" || key == "chunk") {
    result.label = key == "size" ? "message size" : "chunk";
    result.unit = "bytes";
  }
  std::vector<double> above;
  std::copy_if(values.begin(), values.end(), std::back_inserter(above),
               [](double x) { return x > 0; });
  if (above.size() < 2) return result;
  const auto [low, high] = std::minmax_element(above.begin(), above.end());
  if (*high >= 16 * *low) result.scale = plot::scale_kind::log2;
  return result;
}

double number(const json& line, const char* key, double factor) {
  return line.contains(key) && line[key].is_number() ? line[key].get<double>() * factor
                                                     : plot::no_value;
}

/// The spread belongs to the figure whose median is p50.
plot::point point_of(const json& line, double x, const std::string& y) {
  plot::point result{.x = x, .y = line[y].get<double>()};
  const bool own = line.contains("p50") && line["p50"] == line[y];
  if (!own) return result;
  result.low = number(line, "p10", 1);
  result.high = number(line, "p90", 1);
  return result;
}

plot::series& series_named(plot::chart& in, const std::string& name) {
  const auto found = std::find_if(in.all.begin(), in.all.end(),
                                  [&](const plot::series& one) { return one.name == name; });
  if (found != in.all.end()) return *found;
  in.all.push_back({.name = name, .points = {}});
  return in.all.back();
}

void make_relative(plot::chart& what, const std::string& name) {
  const auto base = std::find_if(what.all.begin(), what.all.end(),
                                 [&](const plot::series& one) { return one.name == name; });
  if (base == what.all.end()) {
    std::vector<std::string> names;
    for (const auto& one : what.all) names.push_back(one.name);
    throw std::invalid_argument(
        fmt::format("there is no series {}; there are: {}", name, fmt::join(names, "; ")));
  }
  const auto units = base->points;
  what.all.erase(base);
  for (auto& one : what.all) {
    std::vector<plot::point> ratios;
    for (const plot::point& at : one.points)
      for (const plot::point& unit : units)
        if (unit.x == at.x && unit.y > 0) {
          ratios.push_back({at.x, at.y / unit.y, at.low / unit.y, at.high / unit.y});
          break;
        }
    one.points = ratios;
  }
  what.y.label += " relative to " + name;
  what.y.unit.clear();
  what.rule = 1;
}

/// Logarithmic where values differ much.
plot::scale_kind y_scale(const plot::chart& what) {
  double low = INFINITY, high = 0;
  for (const auto& one : what.all)
    for (const auto& at : one.points) {
      if (!(at.y > 0)) return plot::scale_kind::linear;
      low = std::min(low, at.y);
      high = std::max(high, at.y);
    }
  return high > 30 * low ? plot::scale_kind::log10 : plot::scale_kind::linear;
}

}  // namespace

plot::chart chart_of(const std::vector<json>& all, const chart_choice& wanted) {
  if (all.empty())
    throw std::invalid_argument("there is no JSON line; weft-bench prints them with --json");
  const metric* known = wanted.y.empty() ? metric_of(all) : find_metric(wanted.y);
  if (wanted.y.empty() && known == nullptr) no_key("a figure that is known", all, true);
  const std::string y = known != nullptr ? known->key : wanted.y;
  auto lines = with_key(all, y, true);
  const std::size_t without = all.size() - lines.size();
  const std::string x = wanted.x.empty() ? choose_x(lines) : wanted.x;
  lines = with_key(lines, x, false);
  for (const std::string& key : wanted.series) with_key(lines, key, false);
  const auto keys = wanted.series.empty() ? series_keys(lines, x) : wanted.series;

  plot::chart result{.id = "plot", .title = wanted.title, .description = {}, .with_title = true};
  result.y = {.label = known != nullptr ? known->label : y,
              .unit = known != nullptr ? known->unit : ""};
  const bool numbers = std::all_of(lines.begin(), lines.end(),
                                   [&](const json& line) { return line[x].is_number(); });
  result.kind = wanted.kind.value_or(numbers && values_of(lines, x) > 1 ? plot::chart_kind::lines
                                                                        : plot::chart_kind::bars);
  std::vector<double> xs;
  for (const json& line : lines) {
    double at = 0;
    if (numbers) {
      at = line[x].get<double>();
    } else {
      const std::string place = text_of(line[x]);
      const auto found = std::find(result.categories.begin(), result.categories.end(), place);
      at = static_cast<double>(found - result.categories.begin());
      if (found == result.categories.end()) result.categories.push_back(place);
    }
    xs.push_back(at);
    std::vector<std::string> name;
    for (const std::string& key : keys)
      if (line.contains(key)) name.push_back(value_of(line, key));
    series_named(result, name.empty() ? result.y.label : fmt::format("{}", fmt::join(name, ", ")))
        .points.push_back(point_of(line, at, y));
  }
  for (auto& one : result.all)
    std::stable_sort(one.points.begin(), one.points.end(),
                     [](const plot::point& a, const plot::point& b) { return a.x < b.x; });
  result.x = numbers ? axis_of(x, xs) : plot::axis{.label = x, .unit = "", .scale = {}};
  if (!wanted.relative_to.empty()) make_relative(result, wanted.relative_to);
  result.y.scale = y_scale(result);
  if (result.title.empty()) {
    const std::string bench =
        lines.front().contains("bench") ? text_of(lines.front()["bench"]) : "";
    const bool said = bench.empty() || bench == result.y.label;
    result.title = said ? result.y.label : bench + ": " + result.y.label;
  }
  result.description = fmt::format("{} over {}", result.y.label, result.x.label);
  if (without > 0)
    result.notes.push_back(
        fmt::format("{} of {} lines have no {} and are not shown.", without, all.size(), y));
  return result;
}

}  // namespace weft::bench::page
