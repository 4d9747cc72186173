// SPDX-License-Identifier: Apache-2.0
// The processes that this context has channels to, and which of them may have one.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "connections/non_rank_peers.hpp"
#include "connections/remote_process.hpp"
#include "proto/messenger/messenger.hpp"
#include "wireup/job/job.hpp"

namespace weft::connections {

/// On the connection manager's thread. References to processes are valid until they are erased.
class remote_process_table {
 public:
  remote_process_table(const services& s, proto::messenger& m, non_rank_peers& n,
                       const wireup::job& j, proto::lane_number lane)
      : services_(s), messenger_(m), non_ranks_(n), job_(j), lane_(lane) {}

  /// Once, before anything else. \param self of this context; outlives the table's use
  /// \param all those of the lanes of this context: a rank that one of them has met is the same
  ///   context for all
  void attach(const wireup::identity& self, std::vector<const remote_process_table*> all) {
    self_ = &self;
    all_ = std::move(all);
  }

  /// \return the process with that channel; null: the channel has ended, or was never entered
  remote_process* with(const wireup::channel_ptr& c);
  /// \return the process behind a peer; null: none is present
  remote_process* present(const proto::peer& p);
  bool is_draining(const proto::peer& p) const noexcept;

  /// Enters a channel, unless it is known. Another process of the same identity is drained to its
  /// end before. \return its process; null: a process that is not the one that it says it is, or
  /// not the one that is meant; the channel is closed
  remote_process* enter(const wireup::channel_ptr& c, peer_counts counts);

  /// A process that has no channel any more, and is not draining, is forgotten.
  void erase_if_ended(remote_process& p);

  /// Drains all that are draining by one step each, so that a process that goes on sending does not
  /// keep the thread from others. \return whether any still is
  bool drain();
  void stop_draining();

 private:
  using map = std::multimap<wireup::lane_id, remote_process>;

  void stop_draining(const wireup::identity& of);
  map::iterator erase(map::iterator at);
  map::iterator stop_draining(map::iterator at);
  remote_process& process_of(const wireup::identity& id, peer_counts counts);
  bool is_ours(const wireup::identity& id) const noexcept;
  peer_id number_of(const wireup::identity& id) const noexcept;
  bool has_closed(const wireup::identity& id) const;
  bool is_impostor(const wireup::identity& id) const;
  bool is_other_program(const wireup::identity& id) const;
  bool is_other_rank(const wireup::identity& known, const wireup::identity& id) const noexcept;
  bool knows_other_program(const wireup::identity& id) const;

  const services services_;
  proto::messenger& messenger_;
  non_rank_peers& non_ranks_;
  const wireup::job& job_;
  const proto::lane_number lane_;  // this one
  const wireup::identity* self_ = nullptr;
  std::vector<const remote_process_table*> all_;
  // Several of one lane where it has connected again after a close, and old channels still end.
  map processes_;
};

}  // namespace weft::connections
