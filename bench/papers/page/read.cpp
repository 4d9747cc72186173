// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

#include "page/experiment.hpp"
#include "page/fields.hpp"
#include "page/read_claim.hpp"

namespace weft::bench::page {
namespace {

using namespace fields;

measurement read_command(const std::string& id, const json& from) {
  check_keys(from, {"run", "quick", "full", "quick_seconds", "full_seconds", "timeout_seconds",
                    "environment", "guest", "needs"});
  measurement result{
      .id = id,
      .run = get<std::vector<std::string>>(from, "run"),
      .quick = get_or<std::vector<std::string>>(from, "quick", {}),
      .full = get_or<std::vector<std::string>>(from, "full", {}),
      .quick_seconds = get_or<double>(from, "quick_seconds", 10),
      .full_seconds = get_or<double>(from, "full_seconds", 60),
      .timeout_seconds = std::nullopt,
      .environment = get_or<std::map<std::string, std::string>>(from, "environment", {}),
      .guest = get_or(from, "guest", false),
      .needs = get_or<std::string>(from, "needs", "")};
  if (from.contains("timeout_seconds"))
    result.timeout_seconds = get<double>(from, "timeout_seconds");
  if (result.run.empty()) refuse("\"run\" is empty");
  if (result.needs != "" && result.needs != "mpi" && result.needs != "nas")
    refuse(fmt::format("\"needs\" is \"{}\"; it can be mpi or nas", result.needs));
  // The name of a file.
  if (id.empty() || id.find('/') != std::string::npos || id.front() == '.')
    refuse("the name of a command is also a file's: it has no / and does not begin with a point");
  return result;
}

value read_point(const json& from) {
  if (!from.is_array() || from.size() < 2 || from.size() > 4 || !from[1].is_number())
    refuse("a point is [x, y], or [x, y, low, high]");
  value result{.x = from[0], .y = from[1].get<double>()};
  if (from.size() == 4) {
    result.low = from[2].get<double>();
    result.high = from[3].get<double>();
  }
  return result;
}

paper_series read_paper_series(const json& from) {
  check_keys(from, {"name", "points", "source", "relative_to", "like"});
  paper_series result{.name = get<std::string>(from, "name"),
                      .points = list<value>(from, "points", read_point),
                      .source = get_or<std::string>(from, "source", ""),
                      .relative_to = get_or<std::string>(from, "relative_to", ""),
                      .like = get_or<std::string>(from, "like", "")};
  if (result.points.empty()) refuse("it has no points");
  return result;
}

measured_series read_series(const json& from) {
  check_keys(from, {"name", "role", "command", "select", "x", "y", "spread", "factor", "absent"});
  measured_series result{
      .name = get<std::string>(from, "name"),
      .role = choice<series_role>(
          from, "role",
          {{"weft", series_role::weft}, {"peer", series_role::peer}, {"raw", series_role::raw}},
          "weft"),
      .command = get<std::string>(from, "command"),
      .select = get_or<json>(from, "select", json::object()),
      .x = at(from, "x"),
      .y = get<std::string>(from, "y"),
      .spread = std::nullopt,
      .factor = get_or<double>(from, "factor", 1),
      .absent = get_or<std::string>(from, "absent", "")};
  if (from.contains("spread")) result.spread = get<std::array<std::string, 2>>(from, "spread");
  if (!result.x.is_string() && !(result.x.is_object() && result.x.contains("value")))
    refuse("\"x\" is the key of a line, or {\"value\": ...}");
  if (result.x.is_object()) in_place("\"x\"", [&] { check_keys(result.x, {"value"}); });
  return result;
}

plot::axis read_axis(const json& from, bool* categories) {
  check_keys(from, {"label", "unit", "scale"});
  plot::axis result{.label = get_or<std::string>(from, "label", ""),
                    .unit = get_or<std::string>(from, "unit", ""),
                    .scale = plot::scale_kind::linear};
  if (categories != nullptr && get_or<std::string>(from, "scale", "linear") == "category") {
    *categories = true;
    return result;
  }
  result.scale = choice<plot::scale_kind>(from, "scale",
                                          {{"linear", plot::scale_kind::linear},
                                           {"log2", plot::scale_kind::log2},
                                           {"log10", plot::scale_kind::log10}},
                                          "linear");
  return result;
}

/// All names that others refer to are there.
void check_names(const experiment& what, const paper& in) {
  std::vector<std::string> names;
  for (const auto& one : what.paper) names.push_back(one.name);
  for (const auto& one : what.series) names.push_back(one.name);
  const auto known = [&](const std::string& name) {
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
      refuse(fmt::format("there is no series \"{}\"; there are: {}", name, fmt::join(names, ", ")));
  };
  for (auto one = names.begin(); one != names.end(); ++one)
    if (std::find(names.begin(), one, *one) != one)
      refuse(fmt::format("there are two series \"{}\"", *one));
  known(what.relative_to);
  for (const auto& one : what.paper) {
    known(one.relative_to);
    known(one.like);
  }
  for (const auto& one : what.claims) {
    known(one.left.series);
    known(one.right.series);
    if (one.control) {
      known(one.control->left.series);
      known(one.control->right.series);
    }
  }
  for (const auto& one : what.series)
    if (!in.commands.contains(one.command))
      refuse(fmt::format("series \"{}\": there is no command \"{}\"", one.name, one.command));
}

experiment read_experiment(const json& from, const paper& in) {
  check_keys(from, {"id", "label", "title", "shows", "kind", "x", "y", "relative_to", "paper",
                    "series", "claims", "no_claim"});
  experiment result;
  result.id = get<std::string>(from, "id");
  result.label = get<std::string>(from, "label");
  result.title = get<std::string>(from, "title");
  result.shows = get_or<std::string>(from, "shows", "");
  result.kind = choice<picture_kind>(from, "kind",
                                     {{"lines", picture_kind::lines},
                                      {"bars", picture_kind::bars},
                                      {"table", picture_kind::table}});
  result.x = in_place("\"x\"", [&] { return read_axis(at(from, "x"), &result.categories); });
  result.y = in_place("\"y\"", [&] { return read_axis(at(from, "y"), nullptr); });
  result.relative_to = get_or<std::string>(from, "relative_to", "");
  result.paper = list<paper_series>(from, "paper", read_paper_series);
  result.series = list<measured_series>(from, "series", read_series);
  result.claims = list<claim>(from, "claims", read_claim);
  result.no_claim = get_or<std::string>(from, "no_claim", "");
  if (result.claims.empty() == result.no_claim.empty())
    refuse("it needs \"claims\", or \"no_claim\" with the reason why there are none");
  check_names(result, in);
  return result;
}

}  // namespace

paper read_paper(const json& from) {
  check_keys(from, {"id", "title", "authors", "where", "year", "machine", "commands", "experiments",
                    "unavailable"});
  paper result;
  result.id = get<std::string>(from, "id");
  result.title = get<std::string>(from, "title");
  result.authors = get_or<std::string>(from, "authors", "");
  result.where = get_or<std::string>(from, "where", "");
  if (from.contains("year"))
    result.year = from["year"].is_string() ? get<std::string>(from, "year") : from["year"].dump();
  result.machine = get_or<std::string>(from, "machine", "");
  const json commands = get_or<json>(from, "commands", json::object());
  if (!commands.is_object()) refuse("\"commands\" is no object");
  for (const auto& [id, one] : commands.items())
    in_place(fmt::format("command {}", id), [&, &name = id, &body = one] {
      result.commands.emplace(name, read_command(name, body));
    });
  result.experiments = list<experiment>(
      from, "experiments", [&](const json& one) { return read_experiment(one, result); });
  result.unavailable = list<unavailable_experiment>(from, "unavailable", [](const json& one) {
    check_keys(one, {"label", "why"});
    return unavailable_experiment{get<std::string>(one, "label"), get<std::string>(one, "why")};
  });
  return result;
}

std::vector<paper> read_papers(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder))
    refuse(fmt::format("there is no folder {}", folder.string()));
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<paper> result;
  for (const auto& file : files)
    in_place(file.string(), [&] {
      std::ifstream in(file);
      result.push_back(read_paper(json::parse(in)));
    });
  if (result.empty()) refuse(fmt::format("there are no *.json in {}", folder.string()));
  std::stable_sort(result.begin(), result.end(),
                   [](const paper& a, const paper& b) { return a.year < b.year; });
  return result;
}

}  // namespace weft::bench::page
