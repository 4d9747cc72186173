// SPDX-License-Identifier: Apache-2.0
// From a group that has lost members to the group of those that are left.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/detail/collective_ops.hpp>

namespace weft::collectives {

/// As membership_view.
struct job_view {
  std::uint64_t epoch = 0;
  std::vector<peer_id> ranks;
};

/// The views of a job at one of its processes: all processes get the same views, in one order.
class member_views {
 public:
  virtual job_view now() = 0;
  /// Ends when there is a view with a greater epoch. \throws weft::error
  virtual task<job_view> changed(std::uint64_t since) = 0;

 protected:
  ~member_views() = default;
};

/// Every member that is left calls it. docs/adr/0033-groups.md
/// \param job  lives until the end
/// \param self the peer number of this process
/// \throws weft::error as group::shrink
task<detail::communicator_ptr> shrink(detail::communicator_ptr whole, member_views& job,
                                      peer_id self);

}  // namespace weft::collectives
