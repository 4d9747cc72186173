// SPDX-License-Identifier: Apache-2.0
// From a group, whose members may be lost, to the group of those that are in the job now.
#pragma once

#include <weft/detail/collective_ops.hpp>

#include "collectives/attempts.hpp"
#include "collectives/regroup_plan.hpp"

namespace weft::collectives {

/// The views of a job at one of its processes: all processes get the same views, in one order.
class member_views {
 public:
  virtual job_view now() = 0;
  /// Ends when there is a view with a greater epoch. \throws weft::error
  virtual task<job_view> changed(std::uint64_t since) = 0;
  /// Of this process; the same object each time, whose content this process's regroupings keep.
  /// Progress lock held.
  virtual job_attempts& attempts_of_job() = 0;

 protected:
  ~member_views() = default;
};

/// Every member calls it that the new group is to have. docs/adr/0033-groups.md
/// \param job  lives until the end
/// \param self the peer number of this process
/// \throws weft::error as the functions of these names of group
task<detail::communicator_ptr> regroup(regrouping how, detail::communicator_ptr whole,
                                       member_views& job, peer_id self);

}  // namespace weft::collectives
