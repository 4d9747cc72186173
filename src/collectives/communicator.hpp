// SPDX-License-Identifier: Apache-2.0
// The members of a group, and whether it still works.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <weft/detail/collective_ops.hpp>
#include <weft/detail/message_ops.hpp>

#include "collectives/select.hpp"
#include "proto/group_table.hpp"
#include "proto/messenger.hpp"

namespace weft::collectives {

/// What groups that descend from one by `shrink` share in one process. Progress lock held.
struct lineage {
  std::uint64_t origin;     ///< the number of the first one
  std::uint64_t epoch = 0;  ///< the last view for which there was a group
  std::uint64_t used = 0;   ///< numbers of the view's sequence that were used up
};

/// The state that the handles of a group share: who its members are, the number that keeps its
/// messages apart from those of other groups, and its end. It works until a collective fails at any
/// member: then that member *revokes* the group, every member passes that on, and all collectives
/// of the group end with one error. Any thread, unless a member says otherwise.
/// docs/adr/0033-groups.md
class communicator final : public proto::revocable {
 public:
  /// \param number  equal at all members, and different from that of every other group of a member
  /// \param members the peer numbers of the ranks of the group; empty: rank r is peer r
  /// \throws weft::error (invalid_argument): a group with this number exists; std::bad_alloc
  communicator(proto::messenger& m, std::uint64_t number, peer_id rank, group_shape shape,
               std::vector<peer_id> members);
  ~communicator();
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  proto::messenger& messenger() const noexcept { return messenger_; }
  runtime::engine& engine() const noexcept { return messenger_.engine(); }
  std::uint64_t number() const noexcept { return number_; }
  peer_id rank() const noexcept { return rank_; }
  peer_id size() const noexcept { return shape_.ranks; }
  const group_shape& shape() const noexcept { return shape_; }
  /// The peer number of a rank.
  peer_id member(peer_id rank) const noexcept { return members_.empty() ? rank : members_[rank]; }
  /// The reverse; nothing: that peer is no member.
  std::optional<peer_id> rank_of(peer_id member) const noexcept;
  /// \throws std::bad_alloc
  detail::peer_name peer(peer_id rank);

  /// Counts the collectives that this process has begun: members begin them in one order.
  /// So two threads do not begin at once, and no locked instruction is needed.
  std::uint64_t next_sequence() noexcept {
    const std::uint64_t n = sequence_.load(std::memory_order_relaxed);
    sequence_.store(n + 1, std::memory_order_relaxed);
    return n;
  }

  // --- shrink -----------------------------------------------------------------------------------
  // Groups that descend from one group by `shrink` take their numbers from one sequence for each
  // view of the job. A member may have got a group that failed at the others: they still agree on
  // the next number.

  /// The first number of the view's sequence that can be tried.
  std::uint64_t next_shrink(std::uint64_t epoch) const;
  std::uint64_t number_of_shrink(std::uint64_t epoch, std::uint64_t attempt) const noexcept;
  /// This group came about by that attempt.
  void descends_from(const communicator& old, std::uint64_t epoch, std::uint64_t attempt);
  /// Whether a member that this side has lost is among these peers.
  bool has_lost_one_of(const std::vector<peer_id>& peers);

  /// The ranks that this side has lost, of those that it has spoken with, and the one for which the
  /// group was revoked. \throws std::bad_alloc
  std::vector<peer_id> lost_members();

  /// Before a collective. \throws weft::error: the group has failed, or this process is no member
  /// of it; std::bad_alloc
  void check() {
    if (!checked_.load(std::memory_order_acquire) || has_failed()) [[unlikely]]
      check_all();
  }
  /// Whether the group is revoked. A receive that is posted afterwards has to be stopped: the
  /// revocation ended those that were posted before.
  bool has_failed() const noexcept { return failed_.load(std::memory_order_acquire); }
  /// A collective has failed here: revokes the group, unless it was revoked before.
  /// \return the error with which all collectives of the group end
  error fail(const error& why);

 private:
  void on_revoked(const proto::revocation& what) noexcept override;
  bool has_member(peer_id who) const noexcept override;
  void check_all();
  void make_places();
  void know(peer_id rank);
  void pass_on(const proto::revocation& what, std::uint64_t to);
  peer_id lost_member() noexcept;
  std::string explain(const proto::revocation& what) const;

  proto::messenger& messenger_;
  const std::uint64_t number_;
  const peer_id rank_;
  const group_shape shape_;
  const std::vector<peer_id> members_;
  std::atomic<std::uint64_t> sequence_{0};
  std::atomic<bool> failed_{false};  // set before the posted receives are ended

  // A place for each rank, from the first use on. Progress lock held; `known_` is read without it
  // after a check.
  std::vector<std::shared_ptr<proto::peer>> held_;
  std::unique_ptr<std::atomic<proto::peer*>[]> known_;
  std::atomic<bool> checked_{false};  // this process is a member, and there are places
  std::optional<proto::revocation> revoked_;
  std::shared_ptr<lineage> lineage_;
};

}  // namespace weft::collectives
