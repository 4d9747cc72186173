// SPDX-License-Identifier: Apache-2.0
#include "collectives/regroup_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <weft/error.hpp>

#include "proto/frames/peer_number.hpp"

namespace weft::collectives {

namespace {

std::vector<peer_id> members_left(const std::vector<peer_id>& old, const job_view& view) {
  std::vector<peer_id> left;
  for (std::size_t r = 0; r != old.size(); ++r) {
    if (!proto::names_rank(old[r]))
      throw error(errc::unsupported,
                  fmt::format("member {} of the group was met by address: only the members of a "
                              "job are known to live; make a new group of endpoints",
                              r));
    if (has(view.ranks, old[r])) left.push_back(old[r]);
  }
  return left;
}

void check_that_none_left(const job_view& view) {
  for (std::size_t p = 0; p != view.places.size(); ++p)
    if (!has(view.ranks, view.places[p]))
      throw error(errc::closed,
                  fmt::format("rank {} has left the job in good order, so its place stays empty: "
                              "group::shrink makes a group of those that are left",
                              p));
}

std::vector<peer_id> all_members(const job_view& view) {
  std::vector<peer_id> all;
  for (const peer_id holder : view.places)
    if (has(view.ranks, holder)) all.push_back(holder);
  for (const peer_id member : view.ranks)
    if (!has(view.places, member)) all.push_back(member);
  return all;
}

}  // namespace

bool has(const std::vector<peer_id>& list, peer_id who) noexcept {
  return std::find(list.begin(), list.end(), who) != list.end();
}

std::optional<regroup_plan> plan_group(regrouping how, const std::vector<peer_id>& old,
                                       const job_view& view) {
  switch (how) {
    case regrouping::replace:
      if (has(view.places, no_peer)) return std::nullopt;
      check_that_none_left(view);
      return regroup_plan{view.places};
    case regrouping::grow:
      return regroup_plan{all_members(view), view.epoch};
    case regrouping::shrink:
      break;
  }
  return regroup_plan{members_left(old, view)};
}

}  // namespace weft::collectives
