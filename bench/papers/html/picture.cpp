// SPDX-License-Identifier: Apache-2.0
#include "html/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "plot/text.hpp"

namespace weft::bench::page {
namespace {

/// Names of the paper's series say so.
std::string shown_name(const figure_series& what) {
  return what.quoted && !what.name.starts_with("paper") ? "paper: " + what.name : what.name;
}

plot::series series_of(const figure_series& from, const std::vector<json>& places, bool counted) {
  plot::series result{.name = shown_name(from),
                      .kind = from.quoted                     ? plot::series_kind::quoted
                              : from.role == series_role::raw ? plot::series_kind::limit
                                                              : plot::series_kind::measured,
                      .points = {}};
  for (const value& one : from.points) {
    const auto place = std::find(places.begin(), places.end(), one.x);
    const double x = counted ? static_cast<double>(place - places.begin())
                             : (one.x.is_number() ? one.x.get<double>() : plot::no_value);
    result.points.push_back({.x = x, .y = one.y, .low = one.low, .high = one.high});
  }
  if (counted)
    std::stable_sort(result.points.begin(), result.points.end(),
                     [](const plot::point& a, const plot::point& b) { return a.x < b.x; });
  return result;
}

/// The bytes of "16 KiB"; nothing if the text is no size.
std::optional<double> bytes_of(const json& text) {
  static constexpr std::pair<const char*, double> units[] = {
      {" B", 1.0}, {" KiB", 1024.0}, {" MiB", 1024.0 * 1024}, {" GiB", 1024.0 * 1024 * 1024}};
  const std::string all = text.get<std::string>();
  const std::size_t digits = all.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string::npos) return std::nullopt;
  for (const auto& [unit, factor] : units)
    if (all.substr(digits) == unit) return std::stod(all) * factor;
  return std::nullopt;
}

/// Numbers and sizes in ascending order; other texts as they come.
void sort_places(std::vector<json>& places) {
  const auto all = [&](auto is) { return std::all_of(places.begin(), places.end(), is); };
  if (all([](const json& x) { return x.is_number(); }))
    std::sort(places.begin(), places.end());
  else if (all([](const json& x) { return x.is_string() && bytes_of(x); }))
    std::stable_sort(places.begin(), places.end(),
                     [](const json& a, const json& b) { return *bytes_of(a) < *bytes_of(b); });
}

std::string description_of(const experiment& what) {
  std::string series;
  for (const auto& one : what.series) series += (series.empty() ? "" : ", ") + one.name;
  for (const auto& one : what.paper) series += (series.empty() ? "" : ", ") + one.name;
  return fmt::format("{} The values are in the table below the picture. Series: {}.", what.shows,
                     series);
}

}  // namespace

bool is_base(const experiment& what, const std::string& series) {
  if (what.relative_to.empty()) return false;
  return series == what.relative_to ||
         std::any_of(what.paper.begin(), what.paper.end(),
                     [&](const paper_series& one) { return one.relative_to == series; });
}

std::vector<json> places_of(const figure& shown) {
  std::vector<json> places;
  for (const auto& one : shown.all)
    for (const value& each : one.points)
      if (std::find(places.begin(), places.end(), each.x) == places.end()) places.push_back(each.x);
  sort_places(places);
  return places;
}

std::string place_text(const json& x, const std::string& unit) {
  if (x.is_string()) return x.get<std::string>();
  return x.is_number() ? plot::value_text(x.get<double>(), unit) : x.dump();
}

plot::chart picture_of(const experiment& what, const figure& shown) {
  plot::chart result{
      .id = what.id + "-picture",
      .title = what.label + ": " + what.title,
      .description = description_of(what),
      .kind = what.kind == picture_kind::bars ? plot::chart_kind::bars : plot::chart_kind::lines,
      .x = what.x,
      .y = what.y,
      .categories = {},
      .all = {},
      .rule = {},
      .notes = {}};
  const auto places = places_of(shown);
  if (what.categories)
    for (const json& x : places) result.categories.push_back(place_text(x, what.x.unit));
  if (!what.relative_to.empty()) {
    result.y.label += " relative to " + what.relative_to;
    result.y.unit.clear();
    result.rule = 1;
  }
  std::map<std::string, std::size_t> numbers;
  for (const auto& one : shown.all) {
    if (is_base(what, one.name)) continue;
    plot::series next = series_of(one, places, what.categories);
    if (const auto like = numbers.find(one.like); like != numbers.end()) next.like = like->second;
    numbers[one.name] = result.all.size();
    result.all.push_back(std::move(next));
  }
  return result;
}

}  // namespace weft::bench::page
