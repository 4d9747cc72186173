// SPDX-License-Identifier: Apache-2.0
// The members of a group, and whether it still works.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <weft/detail/collective_ops.hpp>
#include <weft/operations/messages.hpp>

#include "collectives/attempts.hpp"
#include "collectives/call_log.hpp"
#include "collectives/flags/group_flags.hpp"
#include "collectives/last_choices.hpp"
#include "collectives/select.hpp"
#include "proto/groups/group_table.hpp"
#include "proto/messenger/messenger.hpp"

namespace weft::collectives {

class communicator;

/// What groups that descend from one by `shrink` share in one process. Progress lock held.
struct lineage {
  std::uint64_t origin;  ///< the number of the first one
  bool of_world;         ///< that is the world, or was made of it by `replace` or `grow`
  attempts shrinks = {};
  /// Peers that some member has lost: for shrinks without a coordinator.
  std::vector<peer_id> lost = {};
  communicator* tried = nullptr;  ///< the group of such a shrink
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
  /// \param flags   what shared_flags has; the group makes no collectives then
  /// \throws weft::error (invalid_argument): a group with this number exists; std::bad_alloc
  communicator(proto::messenger& m, std::uint64_t number, peer_id rank, group_shape shape,
               std::vector<peer_id> members, std::optional<runtime::flag_layout> flags = {});
  ~communicator();
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  proto::messenger& messenger() const noexcept { return messenger_; }
  runtime::engine& engine() const noexcept { return messenger_.engine(); }
  std::uint64_t number() const noexcept { return number_; }
  peer_id rank() const noexcept { return rank_; }
  peer_id size() const noexcept { return shape_.ranks; }
  const group_shape& shape() const noexcept { return shape_; }
  /// As the function of that name, for this group. \return the place in the table of the collective
  std::uint8_t choose(const collective_size& c) noexcept { return choices_.choose(c, shape_); }
  /// Of collectives. Null: the group has none.
  group_flags* flags() const noexcept { return flags_; }
  /// Of collectives, or of shared_flags. Null: the group has none.
  group_segment* segment() const noexcept { return segment_.get(); }
  /// The peer number of a rank.
  peer_id member(peer_id rank) const noexcept { return members_.empty() ? rank : members_[rank]; }
  /// The reverse; nothing: that peer is no member.
  std::optional<peer_id> rank_of(peer_id member) const noexcept;
  /// \throws std::bad_alloc
  detail::peer_name peer(peer_id rank);

  // --- calls ------------------------------------------------------------------------------------
  // The tags of a collective's messages say which call they are of, so those of another call meet
  // no receive. A member that gets one, or waits for long, tells the sender what it has called
  // itself; who finds that it has made another call revokes the group, and all members learn of
  // both calls.

  /// This process begins a collective. \return its number: members begin them in one order
  std::uint64_t begin(const collective_call& c) noexcept { return calls_.begin(c); }
  /// How many this process has begun.
  std::uint64_t begun() const noexcept override { return calls_.begun(); }
  /// This member waits for a message of the group. Without the progress lock.
  void waits() noexcept {
    if (!watched_.load(std::memory_order_relaxed)) [[unlikely]]
      watch();
  }
  /// A collective ends well here. \param tag of its messages
  void ends(std::uint64_t tag) noexcept {
    if (const peer_id who = calls_.take_heard(tag); who != no_peer) [[unlikely]]
      contradict(who, tag);
  }
  /// A message of a collective has not the size that this member expects.
  /// \param from peer number \throws weft::error (invalid_argument)
  [[noreturn]] void disagree(peer_id from, std::uint64_t tag, std::size_t came,
                             std::size_t expected);

  /// As told by its flag, a member has called something else. \param rank the member
  /// \throws weft::error (invalid_argument)
  [[noreturn]] void disagree(peer_id rank, const proto::group_statement& theirs);

  // --- for group_segment; progress lock held -----------------------------------------------------

  void pass(peer_id rank, unique_fd file) noexcept;
  void say_no_segment(peer_id rank) noexcept;

  // --- regroup ----------------------------------------------------------------------------------

  /// The numbers of groups that `shrink` makes of this one's lineage.
  /// \param members peer numbers, in the order of ranks
  number_sequence shrinks_to(const std::vector<peer_id>& members) const noexcept;
  attempts& shrinks() noexcept { return lineage_->shrinks; }
  /// This group comes about by a shrink of that one.
  void descends_from(const detail::communicator_ptr& old);
  /// It comes about of that one with members that were not in it, and begins a lineage.
  void follows(const communicator& old) noexcept { lineage_->of_world = old.is_of_world(); }
  bool is_of_world() const noexcept { return lineage_->of_world; }
  /// The rank was that of a process that was lost: this one makes no calls in this group. Before
  /// all calls.
  void disown() noexcept { disowned_ = true; }

  /// Where there is no coordinator: tells the members of the first group which of them this side
  /// has lost, also those in `more`. \return all that some member has lost, by their peer numbers
  std::vector<peer_id> agree_on_lost(const std::vector<peer_id>& more);
  /// That group fails when one of its members is said to be lost. \param next null: none is tried
  void tries(communicator* next);
  /// Peer numbers of lost_members().
  std::vector<peer_id> lost_peers();

  /// Whether another member revoked it, and none was lost.
  bool was_revoked() const;
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
  /// As this member knows from elsewhere, that one is lost or has left: revokes the group.
  void lose_rank(peer_id rank) noexcept;
  /// A group with the same members has lost one, as far as another member has told: so has this
  /// group, though this side may not have seen that end itself. \return false: none was lost
  bool loses_as(const communicator& other) noexcept;

 private:
  void on_revoked(const proto::revocation& what) noexcept override;
  bool has_member(peer_id who) const noexcept override;
  void on_unexpected(proto::peer& from, std::uint64_t tag) noexcept override;
  void on_statement(peer_id from, const proto::group_statement& what) noexcept override;
  bool on_watch(std::uint64_t posted, bool last) noexcept override;
  void on_descriptor(peer_id from, const unique_fd& file) noexcept override;
  void on_not_passed(peer_id to) noexcept override;
  void on_member_ended(peer_id who, errc why) noexcept override;
  void on_closed() noexcept override;
  void check_all();
  void make_places();
  proto::peer& know(peer_id rank);
  /// Null: this side has not spoken with that rank. Progress lock held.
  proto::peer* known(peer_id rank) const noexcept {
    return known_ ? known_[rank].load(std::memory_order_relaxed) : nullptr;
  }
  /// How many ranks have a place in known_.
  peer_id places() const noexcept { return known_ ? size() : 0; }
  void tell_members(const std::function<void(proto::peer&)>& tell) noexcept;
  void lose(peer_id who);
  void pass_on(const proto::revocation& what, proto::peer& to);
  proto::revocation revocation_for(const error& why) noexcept;
  error told() const;

  void watch() noexcept;
  void contradict(peer_id who, std::uint64_t tag) noexcept;
  void contradict(proto::peer& who, std::uint64_t tag) noexcept;
  bool compare(proto::peer& from, std::uint64_t tag) noexcept;
  std::unique_ptr<group_segment> make_segment(const std::optional<runtime::flag_layout>& flags);
  bool watch_flags() noexcept;
  proto::peer* meet(peer_id rank) noexcept;
  void end_waits(const proto::revocation& what) noexcept;
  void note(const statement& s) noexcept;
  void revoke_for(const statement& theirs, const std::optional<collective_call>& own) noexcept;
  void say(proto::peer& to, proto::statement_use use, const statement& what) noexcept;
  std::string explain_calls() const;
  std::string explain(const proto::revocation& what) const;

  proto::messenger& messenger_;
  const std::uint64_t number_;
  const peer_id rank_;
  const group_shape shape_;
  const std::vector<peer_id> members_;
  call_log calls_;
  last_choices choices_;
  group_flags* flags_ = nullptr;
  const std::unique_ptr<group_segment> segment_;
  std::optional<group_segment::missing_flag> missed_;  // when the group_watch looked last
  std::atomic<bool> watched_{false};                   // there is a group_watch
  bool idle_ = false;                                  // its last look found no receive
  std::atomic<bool> failed_{false};                    // set before the posted receives are ended

  // A place for each rank, from the first use on: for the many that this side never speaks with, no
  // more than a pointer. Progress lock held; `known_` is read without it once `checked_` is set.
  std::unique_ptr<std::atomic<proto::peer*>[]> known_;
  std::vector<std::shared_ptr<proto::peer>> held_;  // those that are known
  std::atomic<bool> checked_{false};  // this process is a member, and there are places
  bool disowned_ = false;             // constant once the group is in use
  std::optional<proto::revocation> revoked_;
  std::optional<error> cause_;               // of a revocation by this member
  std::array<statement, 2> disagreement_{};  // of a revocation because of different calls
  std::shared_ptr<lineage> lineage_;
  detail::communicator_ptr first_;  // of the lineage; null: this one
};

}  // namespace weft::collectives
