// SPDX-License-Identifier: Apache-2.0
// What members that make a group of an old one have to agree on.
#include <algorithm>

#include "collectives/communicator.hpp"
#include "collectives/group_number.hpp"

namespace weft::collectives {

number_sequence communicator::shrinks_to(const std::vector<peer_id>& members) const noexcept {
  return {origin::shrink, lineage_->origin, members};
}

void communicator::descends_from(const detail::communicator_ptr& old) {
  const runtime::engine::holder hold(engine());
  lineage_ = old->lineage_;
  first_ = old->first_ ? old->first_ : old;
}

std::vector<peer_id> communicator::agree_on_lost(const std::vector<peer_id>& more) {
  const std::vector<peer_id> seen = lost_peers();
  const runtime::engine::holder hold(engine());
  for (const peer_id who : seen) lose(who);
  for (const peer_id who : more) lose(who);
  return lineage_->lost;
}

void communicator::tries(communicator* next) {
  const runtime::engine::holder hold(engine());
  lineage_->tried = next;
}

std::vector<peer_id> communicator::lost_peers() {
  std::vector<peer_id> lost = lost_members();
  for (peer_id& r : lost) r = member(r);
  return lost;
}

/// Some member has lost that peer. Progress lock held. \throws std::bad_alloc
void communicator::lose(peer_id who) {
  lineage& all = *lineage_;
  if (std::find(all.lost.begin(), all.lost.end(), who) != all.lost.end()) return;
  all.lost.push_back(who);
  communicator& first = first_ ? *first_ : *this;
  if (const std::optional<peer_id> rank = first.rank_of(who))
    first.tell_members([&](proto::peer& to) {
      first.say(to, proto::statement_use::lost, {*rank, 0, {}});
    });
  if (!all.tried) return;
  if (const std::optional<peer_id> rank = all.tried->rank_of(who))
    messenger_.groups().revoke(all.tried->number_, {errc::peer_lost, *rank});
}

}  // namespace weft::collectives
