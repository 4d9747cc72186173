// SPDX-License-Identifier: Apache-2.0
#include "collectives/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "collectives/group_number.hpp"

namespace weft::collectives {

using detail::send_mode;
using detail::send_operation;
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
                           group_shape shape, std::vector<peer_id> members)
    : messenger_(m),
      number_(number),
      rank_(rank),
      shape_(shape),
      members_(std::move(members)),
      lineage_(std::make_shared<lineage>(lineage{number})) {
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
  if (known_) return;
  held_.resize(size());
  known_ = std::make_unique<std::atomic<proto::peer*>[]>(size());
}

void communicator::know(peer_id rank) {
  if (held_[rank]) return;
  held_[rank] = messenger_.peers().at_held(member(rank));
  known_[rank].store(held_[rank].get(), std::memory_order_release);
}

detail::peer_name communicator::peer(peer_id rank) {
  const peer_id id = member(rank);
  if (known_)
    if (proto::peer* const p = known_[rank].load(std::memory_order_acquire)) return {p, id};
  const runtime::engine::holder hold(engine());
  make_places();
  know(rank);
  return {held_[rank].get(), id};
}

void communicator::check_all() {
  if (rank_ >= size())
    throw error(errc::unsupported,
                fmt::format("rank {} joined later, and this group is of the {} that started "
                            "together; group::of makes one of a membership_view",
                            rank_, size()));
  const runtime::engine::holder hold(engine());
  make_places();
  checked_.store(true, std::memory_order_release);
  if (revoked_) throw error(revoked_->why, explain(*revoked_));
}

bool communicator::has_lost_one_of(const std::vector<peer_id>& peers) {
  const runtime::engine::holder hold(engine());
  for (peer_id r = 0; r != held_.size(); ++r)
    if (held_[r] && held_[r]->gone() &&
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
  for (peer_id r = 0; r != held_.size(); ++r)
    if ((held_[r] && held_[r]->gone()) ||
        (revoked_ && is_loss(revoked_->why) && revoked_->rank == r))
      lost.push_back(r);
  return lost;
}

std::uint64_t communicator::number_of_shrink(std::uint64_t epoch,
                                             std::uint64_t attempt) const noexcept {
  return number_of_group(origin::shrink).add(lineage_->origin).add(epoch).add(attempt).value();
}

std::uint64_t communicator::next_shrink(std::uint64_t epoch) const {
  const runtime::engine::holder hold(engine());
  std::uint64_t attempt = lineage_->epoch == epoch ? lineage_->used : 0;
  while (messenger_.groups().find_revoked(number_of_shrink(epoch, attempt))) ++attempt;
  return attempt;
}

void communicator::descends_from(const communicator& old, std::uint64_t epoch,
                                 std::uint64_t attempt) {
  const runtime::engine::holder hold(engine());
  lineage_ = old.lineage_;
  lineage_->epoch = epoch;
  lineage_->used = attempt + 1;
}

/// Progress lock held. no_peer: none of those that this side has spoken with.
peer_id communicator::lost_member() noexcept {
  for (peer_id r = 0; r != held_.size(); ++r)
    if (held_[r] && held_[r]->gone()) return r;
  return no_peer;
}

error communicator::fail(const error& why) {
  const runtime::engine::holder hold(engine());
  if (!revoked_) {
    const bool of_peer = why.kind() == errc::peer_lost || why.kind() == errc::closed;
    const peer_id lost = of_peer ? lost_member() : no_peer;
    messenger_.groups().revoke(
        number_,
        lost == no_peer
            ? revocation{why.kind() == errc::stopped || why.kind() == errc::closed ? why.kind()
                                                                                   : errc::refused,
                         rank_}
            : revocation{why.kind(), lost});
    // This member knows its own reason best.
    if (revoked_->rank == rank_) return why;
  }
  return error(revoked_->why, explain(*revoked_));
}

/// Passes the revocation on to the members at the distances 1, 2, 4, ... on both sides: also if
/// some of them are lost, all members that live hear of it.
void communicator::on_revoked(const revocation& what) noexcept {
  revoked_ = what;
  failed_.store(true, std::memory_order_release);
  if (rank_ >= size()) return;
  try {
    make_places();
    for (std::uint64_t d = 1; d < size(); d *= 2)
      for (const std::uint64_t to : {rank_ + d, rank_ + size() - d}) pass_on(what, to % size());
  } catch (const std::bad_alloc&) {
    // The other neighbours pass it on.
  }
}

void communicator::pass_on(const revocation& what, std::uint64_t to) {
  const auto rank = static_cast<peer_id>(to);
  know(rank);
  if (rank == rank_ || held_[rank]->gone()) return;
  revocation_send::start({held_[rank].get(), member(rank)}, number_, what, engine().background());
}

std::string communicator::explain(const revocation& what) const {
  const auto text = [&](const char* did) {
    return fmt::format(
        "rank {} of the group {}; no collective of this group works any more: "
        "group::shrink makes a group of those that are left",
        what.rank, did);
  };
  switch (what.why) {
    case errc::stopped:
      return text("stopped a collective");
    case errc::closed:
      return text("has closed");
    case errc::refused:
      return text("failed in a collective (it knows why)");
    default:
      return text("is lost");
  }
}

}  // namespace weft::collectives
