// SPDX-License-Identifier: Apache-2.0
// All collectives, in the order of `kind`.
#include <algorithm>
#include <array>

#include "collectives/algorithm.hpp"

namespace weft::collectives {

namespace {

constexpr std::array<const collective_table*, kinds> tables{
    &barrier_table, &broadcast_table,  &reduce_table,     &all_reduce_table, &gather_table,
    &scatter_table, &all_gather_table, &all_to_all_table, &scan_table};

}  // namespace

const collective_table& table_of(kind k) noexcept { return *tables[static_cast<std::size_t>(k)]; }

std::string_view name_of(kind k) noexcept { return table_of(k).name; }

bool find_kind(std::string_view name, kind& found) noexcept {
  const auto at = std::find_if(tables.begin(), tables.end(),
                               [&](const collective_table* t) { return t->name == name; });
  if (at == tables.end()) return false;
  found = static_cast<kind>(at - tables.begin());
  return true;
}

}  // namespace weft::collectives
