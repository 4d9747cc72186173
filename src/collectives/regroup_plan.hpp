// SPDX-License-Identifier: Apache-2.0
// Which members a group has that is made of an old one, in one view of the job. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <weft/message.hpp>

namespace weft::collectives {

/// As membership_view.
struct job_view {
  std::uint64_t epoch = 0;
  std::vector<peer_id> ranks;
  std::vector<peer_id> places = {};
};

/// Which members the new group has.
enum class regrouping : std::uint8_t {
  shrink,   ///< those of the old one that are left
  replace,  ///< the holders of all places of the job, each at its place
  grow      ///< all members of the job: those that have a place, then those that joined
};

/// What the members have to agree on.
struct regroup_plan {
  std::vector<peer_id> members;  ///< by their peer numbers, in the order of their ranks
  /// Processes that join and leave may make one list of members again; those that come back cannot.
  std::uint64_t epoch = 0;
  friend bool operator==(const regroup_plan&, const regroup_plan&) = default;
};

/// \param old the members of the old group, by their peer numbers
/// \return nothing: there is no such group in this view, and may be one in a later one
/// \throws weft::error (unsupported): a member of the old group is no rank of the job;
///   (closed): there will be none
std::optional<regroup_plan> plan_group(regrouping how, const std::vector<peer_id>& old,
                                       const job_view& view);

bool has(const std::vector<peer_id>& list, peer_id who) noexcept;

}  // namespace weft::collectives
