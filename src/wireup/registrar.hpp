// SPDX-License-Identifier: Apache-2.0
// Rank 0's side of a job that grows: it gives ranks, keeps the book, and tells everybody.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "wireup/connection_manager.hpp"
#include "wireup/roster.hpp"

namespace weft::wireup {

/// Everything on the connection manager's thread. What members say is checked; one that misbehaves
/// is dropped and counts as dead.
class registrar {
 public:
  struct host {
    context_id job;
    peer_id first_size = 1;
    /// Where a rank is that was there from the start; may answer on another thread, through `post`.
    std::function<void(peer_id, std::function<void(std::string)>)> find;
    /// Each change, once, in order, also for rank 0 itself.
    std::function<void(const change&)> on_change;
  };

  explicit registrar(host h);

  /// Somebody stands at a door of the job, or at the registrar's own.
  void visit(std::unique_ptr<door_visit> v);
  /// Whether that channel is a member's line, whose parcels and end belong here.
  bool owns(const channel_ptr& c) const { return lines_.contains(c); }
  void on_parcel(const channel_ptr& c, const transports::parcel& p);
  void on_gone(const channel_ptr& c, bool orderly);

  /// Somebody else knows that a rank has ended.
  void ended(peer_id rank, bool died);
  /// The answer of host::find.
  void found(peer_id rank, const std::string& locator);

  /// Where a rank is that joined; empty: gone, or there is none.
  std::string where(peer_id rank) const;

 private:
  void on_find(const channel_ptr& c, peer_id rank);
  void record(const change& c);
  void drop(const channel_ptr& c);

  const host host_;
  roster book_;
  peer_id next_rank_;
  struct member {
    peer_id rank;
    bool published;  // it has said where it is; that is said once
  };

  std::map<channel_ptr, member> lines_;
  std::map<peer_id, std::string> joined_;  // where those are that joined and are not gone
  std::multimap<peer_id, channel_ptr> waiting_;
};

}  // namespace weft::wireup
