// SPDX-License-Identifier: Apache-2.0
// Rank 0's side of a job that grows, and loses ranks and gets them back: it assigns ranks, keeps
// the roster, and tells the members each change.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "wireup/job/roster.hpp"
#include "wireup/manager/connection_manager.hpp"

namespace weft::wireup {

/// Whether `who` is the process that listens at the locator. On this host the kernel tells. Over
/// TCP every holder of the job's key is believed, unless that rank is on this host.
bool is_process_at(const socket_names& names, const identity& who, bool by_unix_socket,
                   const std::string& locator);

/// Everything on the connection manager's thread. What members send is checked; a member that
/// misbehaves is dropped and counts as dead. The end of a coordinator connection is the news of its
/// rank's death, so only that rank may have one: a launched rank is compared with where the
/// launcher knows it to be, and a joined rank is the process that was given the rank.
class coordinator final : public channel_events {
 public:
  struct host {
    context_id job;
    peer_id first_size = 1;
    /// Where a rank that was there from the start is; may answer on another thread, through `post`.
    std::function<void(peer_id, std::function<void(std::string)>)> find;
    /// Whether the process at the listener is the one that is to be found at the locator.
    std::function<bool(const identity& who, bool by_unix_socket, const std::string& locator)> is_at;
    /// Each change, once, in order, also for rank 0 itself.
    std::function<void(const change&)> on_change;
  };

  explicit coordinator(host h);

  /// A connection request at a listener of the job, or at the coordinator's own.
  void on_request(std::unique_ptr<incoming_request> request);
  // channel_events, of coordinator connections.
  void on_wireup_message(const channel_ptr& c, transports::wireup_message m) override;
  void on_ended(const channel_ptr& c, const proto::ended& how) override;

  /// A rank has ended, as another source than its coordinator connection tells.
  void on_rank_ended(peer_id rank, bool died);
  /// The answer of host::find.
  void found(peer_id rank, const std::string& locator);

  /// Where a rank that joined is; empty: gone, or there is none.
  std::string where(peer_id rank) const;

 private:
  enum class standing {
    claimed,  ///< it says that it is that rank: nothing is told to it or believed yet
    proven,   ///< it is that rank
    joining,  ///< it was given the rank, and has not published its locator
    joined
  };
  struct member {
    peer_id rank;
    standing stands;
    peer_id place = no_peer;  // that it takes, of a rank that was lost
  };

  void on_return(std::unique_ptr<incoming_request> request, peer_id place);
  void let_in(incoming_request& request, peer_id place);
  void let_in_those_who_return();
  void on_find(const channel_ptr& c, peer_id rank);
  void look_for(peer_id rank, const channel_ptr& c);
  void judge(const channel_ptr& c, const std::string& locator);
  void greet(const channel_ptr& c, peer_id rank);
  channel_ptr accept(incoming_request& request, member of);
  bool has_line(peer_id rank) const;
  void record(const change& c);
  void drop(const channel_ptr& c);

  const host host_;
  roster book_;
  peer_id next_rank_;
  std::map<channel_ptr, member> lines_;
  // Processes that are to take a place, until it is vacant: the latest one for each place. The
  // news of the loss may come later than they do.
  std::map<peer_id, std::unique_ptr<incoming_request>> returning_;
  std::map<peer_id, std::string> joined_;  // the locators of the ranks that joined and are not gone
  // The channels that want to know where a rank is, from the question to the launcher until its
  // answer.
  std::map<peer_id, std::set<channel_ptr>> waiting_;
};

}  // namespace weft::wireup
