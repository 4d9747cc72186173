// SPDX-License-Identifier: Apache-2.0
#include "collectives/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "collectives/group_number.hpp"

namespace weft::collectives {

using detail::send_mode;
using proto::revocation;

namespace {

/// The signal of a revocation to one member. Frees itself.
class revocation_send final : public send_operation {
 public:
  static void start(detail::peer_name to, std::uint64_t group, const revocation& what,
                    executor& on) {
    auto* const one = new revocation_send(to, group, what);
    one->on = &on;
    if (one->start_held()) delete one;
  }

 private:
  revocation_send(detail::peer_name to, std::uint64_t group, const revocation& what)
      : send_operation(
            {to, {proto::revoke_tag(group)}, const_buffer{}, send_mode::signal, what.packed()},
            [](operation& op) noexcept { delete static_cast<revocation_send*>(&op); }) {}
};

}  // namespace

communicator::communicator(proto::messenger& m, std::uint64_t number, peer_id rank,
                           group_shape shape, std::vector<peer_id> members,
                           std::optional<runtime::flag_layout> flags)
    : messenger_(m),
      number_(number),
      rank_(rank),
      shape_(shape),
      members_(std::move(members)),
      segment_(make_segment(flags)),
      lineage_(std::make_shared<lineage>(lineage{number, number == 0})) {
  const runtime::engine::holder hold(engine());
  if (!messenger_.groups().add(number_, *this))
    throw error(errc::invalid_argument,
                "this process is in a group with the same name already; give the second group "
                "another name, or end the first one");
  if (const revocation* const what = messenger_.groups().find_revoked(number_)) {
    // As a former group with this number was; or, just now, by what a member said before.
    revoked_ = *what;
    failed_ = true;
  }
}

bool communicator::has_member(peer_id who) const noexcept {
  if (members_.empty()) return who < size();
  return std::find(members_.begin(), members_.end(), who) != members_.end();
}

communicator::~communicator() {
  const runtime::engine::holder hold(engine());
  messenger_.groups().remove(number_);
}

void communicator::make_places() {
  if (!known_) known_ = std::make_unique<std::atomic<proto::peer*>[]>(size());
}

proto::peer& communicator::know(peer_id rank) {
  make_places();
  if (proto::peer* const p = known(rank)) return *p;
  held_.push_back(messenger_.peers().at_held(member(rank)));
  proto::peer& p = *held_.back();
  known_[rank].store(&p, std::memory_order_release);
  return p;
}

detail::peer_name communicator::peer(peer_id rank) {
  const peer_id id = member(rank);
  if (checked_.load(std::memory_order_acquire))
    if (proto::peer* const p = known_[rank].load(std::memory_order_acquire)) return {p, id};
  const runtime::engine::holder hold(engine());
  return {&know(rank), id};
}

void communicator::check_all() {
  if (rank_ >= size())
    throw error(errc::unsupported,
                fmt::format("rank {} joined later, and this group is of the {} that started "
                            "together; group::of makes one of a membership_view",
                            rank_, size()));
  if (disowned_)
    throw error(errc::peer_lost,
                fmt::format("rank {} of this group was lost, and this process has come back in its "
                            "place: group::replace makes the group that it is in",
                            rank_));
  const runtime::engine::holder hold(engine());
  make_places();
  checked_.store(true, std::memory_order_release);
  if (revoked_) throw told();
}

bool communicator::was_revoked() const {
  const runtime::engine::holder hold(engine());
  return revoked_ && !cause_ && !is_loss(revoked_->why);
}

bool communicator::has_lost_one_of(const std::vector<peer_id>& peers) {
  const runtime::engine::holder hold(engine());
  for (peer_id r = 0; r != places(); ++r)
    if (known(r) && known(r)->has_ended() &&
        std::find(peers.begin(), peers.end(), member(r)) != peers.end())
      return true;
  return false;
}

std::optional<peer_id> communicator::rank_of(peer_id member) const noexcept {
  if (members_.empty()) return member < size() ? std::optional(member) : std::nullopt;
  const auto found = std::find(members_.begin(), members_.end(), member);
  if (found == members_.end()) return std::nullopt;
  return static_cast<peer_id>(found - members_.begin());
}

std::vector<peer_id> communicator::lost_members() {
  const runtime::engine::holder hold(engine());
  std::vector<peer_id> lost;
  for (peer_id r = 0; r != places(); ++r)
    if ((known(r) && known(r)->has_ended()) ||
        (revoked_ && is_loss(revoked_->why) && revoked_->rank == r))
      lost.push_back(r);
  return lost;
}

/// Of the reasons that this side sees: a death comes before those that left because of it.
proto::revocation communicator::revocation_for(const error& why) noexcept {
  if (is_loss(why.kind())) {
    peer_id left = no_peer;
    for (peer_id r = 0; r != places(); ++r) {
      const proto::peer* const p = known(r);
      if (!p || !p->has_ended()) continue;
      if (p->why() != errc::closed) return {errc::peer_lost, r};
      if (left == no_peer) left = r;
    }
    if (left != no_peer) return {errc::closed, left};
  }
  cause_ = why;
  if (why.kind() == errc::stopped || why.kind() == errc::closed) return {why.kind(), rank_};
  if (why.kind() == errc::invalid_argument &&
      (disagreement_[0].rank == rank_ || disagreement_[1].rank == rank_))
    return {errc::invalid_argument, disagreement_[0].rank};
  return {errc::refused, rank_, why.kind()};
}

error communicator::fail(const error& why) {
  const runtime::engine::holder hold(engine());
  if (!revoked_) messenger_.groups().revoke(number_, revocation_for(why));
  return told();
}

void communicator::lose_rank(peer_id rank) noexcept {
  const runtime::engine::holder hold(engine());
  if (!revoked_) messenger_.groups().revoke(number_, {errc::peer_lost, rank});
}

bool communicator::loses_as(const communicator& other) noexcept {
  const runtime::engine::holder hold(engine());
  if (!other.revoked_ || !is_loss(other.revoked_->why)) return false;
  if (!revoked_) messenger_.groups().revoke(number_, *other.revoked_);
  return true;
}

/// This member knows its own reason best.
error communicator::told() const {
  return cause_ ? *cause_ : error(revoked_->why, explain(*revoked_));
}

/// Tells the members at the distances 1, 2, 4, ... on both sides: if they pass it on, all members
/// that live hear of it, also if some of them are lost. And those that would see this member leave,
/// which they must not take for the reason. Progress lock held.
void communicator::tell_members(const std::function<void(proto::peer&)>& tell) noexcept {
  if (rank_ >= size()) return;
  try {
    std::vector<peer_id> to;
    for (std::uint64_t d = 1; d < size(); d *= 2)
      for (const std::uint64_t r : {rank_ + d, rank_ + size() - d})
        to.push_back(static_cast<peer_id>(r % size()));
    messenger_.peers().for_each([&](const proto::peer& p) {
      if (p.now() != proto::peer::state::open) return;
      if (const std::optional<peer_id> r = rank_of(p.id())) to.push_back(*r);
    });
    std::sort(to.begin(), to.end());
    to.erase(std::unique(to.begin(), to.end()), to.end());
    for (const peer_id r : to) {
      proto::peer& p = know(r);
      if (r != rank_ && !p.has_ended()) tell(p);
    }
  } catch (const std::bad_alloc&) {
    // The other neighbours pass it on.
  }
}

void communicator::on_revoked(const revocation& what) noexcept {
  revoked_ = what;
  failed_.store(true, std::memory_order_release);
  end_waits(what);
  tell_members([&](proto::peer& to) { pass_on(what, to); });
}

void communicator::pass_on(const revocation& what, proto::peer& to) {
  if (what.why == errc::invalid_argument)
    for (const statement& s : disagreement_)
      if (s.rank != no_peer) say(to, proto::statement_use::tells, s);
  revocation_send::start({&to}, number_, what, engine().background());
}

std::string communicator::explain(const revocation& what) const {
  const auto text = [&](const std::string& did) {
    return fmt::format("rank {} of the group {}; {}", what.rank, did,
                       segment_ && !flags_
                           ? "these shared_flags can be awaited no more: group::shrink makes a "
                             "group of those that are left, and shared_flags::make new ones"
                           : "no collective of this group works any more: group::shrink makes a "
                             "group of those that are left");
  };
  switch (what.why) {
    case errc::stopped:
      return text("stopped a collective");
    case errc::closed:
      return text("has closed");
    case errc::refused:
      return text(what.cause == errc::ok
                      ? "failed in a collective (it knows why)"
                      : fmt::format("failed in a collective: {}: {}", name_of(what.cause),
                                    sentence_of(what.cause)));
    case errc::invalid_argument:
      return explain_calls();
    default:
      return text("is lost");
  }
}

}  // namespace weft::collectives
