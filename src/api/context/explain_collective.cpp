// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <weft/explain.hpp>

#include "collectives/algorithm.hpp"
#include "collectives/forced.hpp"

namespace weft {

namespace {

std::string all_collectives() {
  std::string names;
  for (std::size_t k = 0; k != collectives::kinds; ++k)
    names += fmt::format("{}{}", k == 0 ? "" : ", ", name_of(static_cast<collectives::kind>(k)));
  return names;
}

}  // namespace

std::vector<algorithm_cost> explain_collective(std::string_view collective, std::size_t bytes,
                                               peer_id ranks, peer_id hosts,
                                               std::string_view forced) {
  collectives::kind what{};
  if (!collectives::find_kind(collective, what))
    throw error(errc::invalid_argument, fmt::format("there is no collective {}; there are: {}",
                                                    collective, all_collectives()));
  if (ranks == 0) throw error(errc::invalid_argument, "a group has at least one rank");
  if (hosts != 0 && ranks % hosts != 0)
    throw error(
        errc::invalid_argument,
        fmt::format("{} ranks do not divide into {} hosts with as many each", ranks, hosts));
  const auto asked = collectives::forced_by(forced);
  if (!asked)
    throw error(errc::invalid_argument, fmt::format("there is no algorithm {}; there are: {}",
                                                    forced, collectives::all_choices()));
  const auto shape =
      collectives::group_shape::on_hosts(ranks, hosts == 0 ? 0 : ranks / hosts, *asked);
  std::vector<algorithm_cost> all;
  for (const auto& one : collectives::candidates({what, bytes}, shape))
    all.push_back(
        {std::string(one.how->name), one.microseconds, one.unfit ? one.unfit : "", one.forced});
  return all;
}

}  // namespace weft
