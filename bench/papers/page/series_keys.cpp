// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <vector>

#include "page/lines_chart.hpp"

namespace weft::bench::page {
namespace {

// Nearly every line has these, and the others say more.
constexpr const char* late[] = {"transport", "progress", "bench", "size", "file"};

bool is_late(const std::string& key) {
  return std::find(std::begin(late), std::end(late), key) != std::end(late);
}

std::vector<std::string> keys_in_order(const std::vector<json>& lines) {
  std::vector<std::string> keys;
  for (const json& line : lines)
    for (const auto& [key, content] : line.items())
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  std::stable_partition(keys.begin(), keys.end(), [](const auto& key) { return !is_late(key); });
  return keys;
}

/// What all lines that have the key hold; texts and booleans, or whole numbers.
bool holds(const std::vector<json>& lines, const std::string& key, bool texts) {
  return std::all_of(lines.begin(), lines.end(), [&](const json& line) {
    if (!line.contains(key)) return true;
    const json& content = line[key];
    return texts ? content.is_string() || content.is_boolean() : content.is_number_integer();
  });
}

/// The values of some keys as one text for each line.
std::vector<std::string> groups(const std::vector<json>& lines,
                                const std::vector<std::string>& keys) {
  std::vector<std::string> result;
  for (const json& line : lines) {
    std::string text;
    for (const std::string& key : keys) text += line.value(key, json()).dump() + '\n';
    result.push_back(text);
  }
  return result;
}

std::size_t distinct(const std::vector<std::string>& of) {
  return std::set<std::string>(of.begin(), of.end()).size();
}

}  // namespace

std::vector<std::string> series_keys(const std::vector<json>& lines, const std::string& x) {
  std::vector<std::string> chosen;
  const auto keys = keys_in_order(lines);
  const bool named = !x.empty() && holds(lines, x, true);
  const auto take = [&](const std::string& key) {
    if (key == x || describes_samples(key) || find_metric(key) != nullptr) return;
    // The names of places say it already.
    if (named && distinct(groups(lines, {x, key})) == distinct(groups(lines, {x}))) return;
    auto more = chosen;
    more.push_back(key);
    if (distinct(groups(lines, more)) > std::max<std::size_t>(distinct(groups(lines, chosen)), 1))
      chosen = more;
  };
  for (const std::string& key : keys)
    if (holds(lines, key, true)) take(key);
  // Numbers, while lines of one series still share an x.
  for (const std::string& key : keys) {
    auto places = chosen;
    places.push_back(x);
    if (distinct(groups(lines, places)) == lines.size()) break;
    if (holds(lines, key, false)) take(key);
  }
  return chosen;
}

}  // namespace weft::bench::page
