// SPDX-License-Identifier: Apache-2.0
#include "collectives/forced.hpp"

#include <algorithm>

#include "collectives/algorithm.hpp"

namespace weft::collectives {

namespace {

/// One entry. \return whether there is such a thing, for the first time
bool add_choice(std::string_view entry, forced_choices& all) noexcept {
  const std::size_t colon = std::min(entry.find(':'), entry.size());
  kind what{};
  if (colon == entry.size() || !find_kind(entry.substr(0, colon), what)) return false;
  const auto known = table_of(what).algorithms;
  const auto at = std::find_if(known.begin(), known.end(), [&](const algorithm& a) {
    return a.name == entry.substr(colon + 1);
  });
  std::uint8_t& place = all[static_cast<std::size_t>(what)];
  if (at == known.end() || place != 0) return false;
  place = static_cast<std::uint8_t>(at - known.begin() + 1);
  return true;
}

}  // namespace

std::optional<forced_choices> forced_by(std::string_view text) noexcept {
  forced_choices all{};
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (!add_choice(text.substr(0, comma), all)) return {};
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return all;
}

std::string all_choices() {
  std::string text;
  for (std::size_t k = 0; k != kinds; ++k) {
    const collective_table& table = table_of(static_cast<kind>(k));
    text.append(k == 0 ? "" : ", ").append(table.name);
    for (const algorithm& one : table.algorithms)
      text.append(&one == &table.algorithms.front() ? ":" : "|").append(one.name);
  }
  return text;
}

}  // namespace weft::collectives
