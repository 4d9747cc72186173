// SPDX-License-Identifier: Apache-2.0
#include "page/fields.hpp"

#include <algorithm>
#include <numeric>

namespace weft::bench::page::fields {
namespace {

/// How many letters have to be added, removed, changed, or swapped with their neighbour, to make
/// one text of the other.
std::size_t distance(std::string_view a, std::string_view b) {
  // A row for each letter of a: the distances of its beginnings to those of b.
  std::vector<std::vector<std::size_t>> rows(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  std::iota(rows[0].begin(), rows[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    rows[i][0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({changed, rows[i - 1][j] + 1, rows[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

}  // namespace

void refuse(const std::string& what) { throw std::invalid_argument(what); }

const json& at(const json& in, const char* key) {
  if (!in.is_object()) refuse("this is no object");
  const auto found = in.find(key);
  if (found == in.end()) refuse(fmt::format("there is no key \"{}\"", key));
  return *found;
}

std::string near_name(std::string_view text, std::initializer_list<const char*> names) {
  std::string_view nearest;
  std::size_t least = 3;
  for (const std::string_view name : names) {
    const std::size_t apart = distance(text, name);
    if (apart >= least || 2 * apart >= std::max(text.size(), name.size())) continue;
    least = apart;
    nearest = name;
  }
  return std::string(nearest);
}

void check_keys(const json& in, std::initializer_list<const char*> known) {
  if (!in.is_object()) refuse("this is no object");
  for (const auto& [key, ignored] : in.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string near = near_name(key, known);
    refuse(near.empty() ? fmt::format("there can be no key \"{}\"; there can be: {}", key,
                                      fmt::join(known.begin(), known.end(), ", "))
                        : fmt::format("there can be no key \"{}\"; is it \"{}\"?", key, near));
  }
}

}  // namespace weft::bench::page::fields
