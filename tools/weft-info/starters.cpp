// SPDX-License-Identifier: Apache-2.0
#include "starters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "wireup/bootstrap/starter.hpp"

namespace weft::info {

using nlohmann::ordered_json;

ordered_json starters() {
  ordered_json all = ordered_json::array();
  for (const wireup::starter_finding& f : wireup::examine_starters())
    all.push_back({{"name", wireup::name_of(f.which)},
                   {"chosen", f.chosen},
                   {"meets_at_rank_0",
                    f.which != wireup::starter::weft_run && f.which != wireup::starter::pmix},
                   {"why", f.why}});
  return all;
}

bool would_wait(const ordered_json& all) {
  return std::ranges::any_of(all, [](const auto& one) {
    return one["chosen"].template get<bool>() && one["meets_at_rank_0"].template get<bool>();
  });
}

void show_starters(const ordered_json& all) {
  fmt::print("\nstarted by (the first one that is there counts)\n");
  for (const auto& one : all)
    fmt::print("  {:<16}  {}{}\n", one["name"].get<std::string>(),
               one["chosen"].get<bool>() ? "> " : "", one["why"].get<std::string>());
  if (std::ranges::none_of(all, [](const auto& one) { return one["chosen"].template get<bool>(); }))
    fmt::print("  none: rank 0 of 1\n");
}

}  // namespace weft::info
