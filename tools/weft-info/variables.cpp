// SPDX-License-Identifier: Apache-2.0
#include "variables.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <weft/environment.hpp>

namespace weft::info {

namespace {

using nlohmann::ordered_json;

std::string quoted(const std::string& s) { return s.empty() ? "(empty)" : s; }

ordered_json rows(const std::vector<environment_variable>& table, const options& now) {
  ordered_json all = ordered_json::array();
  const options untouched;
  for (const environment_variable& v : table)
    all.push_back({{"name", v.name},
                   {"value", v.get(now)},
                   {"default", v.get(untouched)},
                   {"set", std::getenv(v.name) != nullptr || v.get(now) != v.get(untouched)},
                   {"meaning", v.meaning}});
  return all;
}

/// Variables with a name like weft's that weft does not have: probably misspelt.
ordered_json unknown() {
  std::set<std::string_view> known{"WEFT_RANK", "WEFT_SIZE",   "WEFT_LOCAL_SIZE",  "WEFT_JOB",
                                   "WEFT_ROOT", "WEFT_CONFIG", "WEFT_OFI_ANNOUNCE"};
  for (const environment_variable& v : environment_variables()) known.insert(v.name);
  ordered_json all = ordered_json::array();
  for (char** one = environ; *one; ++one) {
    const std::string_view text(*one);
    const std::string_view name = text.substr(0, text.find('='));
    if (name.starts_with("WEFT_") && !known.contains(name)) all.push_back(std::string(name));
  }
  return all;
}

void show(const ordered_json& v) {
  fmt::print("  {:<22}  {:<10} {}\n", v["name"].get<std::string>(),
             quoted(v["value"].get<std::string>()), v["meaning"].get<std::string>());
  if (v["set"].get<bool>())
    fmt::print("  {:<22}  set here; otherwise {}\n", "", quoted(v["default"].get<std::string>()));
}

}  // namespace

ordered_json variables(const options& now) {
  const char* const file = std::getenv("WEFT_CONFIG");
  return {{"configuration_file", file ? file : ""},
          {"variables", rows(setting_variables(), now)},
          {"experiments", rows(experiment_variables(), now)},
          {"unknown", unknown()}};
}

void show_variables(const ordered_json& report, bool all_experiments) {
  fmt::print("\nvariables\n");
  if (const auto file = report["configuration_file"].get<std::string>(); !file.empty())
    fmt::print("  {:<22}  {}: read first; the environment replaces its settings\n", "WEFT_CONFIG",
               file);
  for (const auto& v : report["variables"]) show(v);
  for (const auto& name : report["unknown"])
    fmt::print("  {:<22}  is set here, and means nothing to weft\n", name.get<std::string>());
  fmt::print("\nvariables for experiments\n");
  for (const auto& v : report["experiments"])
    if (all_experiments || v["set"].get<bool>()) show(v);
  if (!all_experiments)
    fmt::print("  weft-info --experiments shows all {}\n", report["experiments"].size());
}

}  // namespace weft::info
