// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <weft/message.hpp>

namespace weft::wireup {

/// How many ranks each host has, if all hosts have as many, and those of a host are next to each
/// other; else 0. \param hosts of each rank, by any numbers \throws std::bad_alloc
inline peer_id ranks_of_each_host(const std::vector<std::uint32_t>& hosts) {
  if (hosts.empty()) return 0;
  const auto begin = hosts.begin();
  const auto first_other =
      std::find_if(begin, hosts.end(), [&](std::uint32_t h) { return h != hosts.front(); });
  const auto each = static_cast<std::size_t>(first_other - begin);
  if (each == 0 || hosts.size() % each != 0) return 0;
  std::vector<std::uint32_t> seen;
  for (std::size_t first = 0; first != hosts.size(); first += each) {
    for (std::size_t r = 1; r != each; ++r)
      if (hosts[first + r] != hosts[first]) return 0;
    seen.push_back(hosts[first]);
  }
  std::sort(seen.begin(), seen.end());
  const bool twice = std::adjacent_find(seen.begin(), seen.end()) != seen.end();
  return twice ? 0 : static_cast<peer_id>(each);
}

}  // namespace weft::wireup
