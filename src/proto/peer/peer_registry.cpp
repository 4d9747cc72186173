// SPDX-License-Identifier: Apache-2.0
#include "proto/peer/peer_registry.hpp"

#include <algorithm>
#include <utility>

#include "proto/messenger/message_errors.hpp"

namespace weft::proto {

std::shared_ptr<peer> peer_registry::at(peer_id id) {
  const runtime::engine::holder hold(engine_);
  return known_or_new(id);
}

std::shared_ptr<peer> peer_registry::find(peer_id id) const {
  const runtime::engine::holder hold(engine_);
  const auto known = peers_.find(id);
  return known == peers_.end() ? nullptr : known->second;
}

std::array<peer*, 2> peer_registry::at(peer_id a, peer_id b) {
  const runtime::engine::holder hold(engine_);
  return {known_or_new(a).get(), known_or_new(b).get()};
}

const std::shared_ptr<peer>& peer_registry::known_or_new(peer_id id) {
  if (const auto known = peers_.find(id); known != peers_.end()) return known->second;
  const std::shared_ptr<peer>& p = peers_.emplace(id, make(id)).first->second;
  if (const errc why = why_ended(id); why != errc::ok)
    p->end({why, make_error_code(why).message()});
  return p;
}

bool peer_registry::has_given(peer_id id) const {
  const runtime::engine::holder hold(engine_);
  return id < first_new_ || id - first_new_ < ends_.size();
}

std::shared_ptr<peer> peer_registry::add() {
  const runtime::engine::holder hold(engine_);
  peer_id id = no_peer;
  do {
    if (ends_.size() == no_peer - first_new_)
      throw error(errc::unsupported,
                  "this context has met as many peers by address as there are numbers for");
    id = first_new_ + static_cast<peer_id>(ends_.size());
    ends_.push_back(static_cast<std::uint8_t>(errc::unreachable));
    // A call may have used that number before it was given: then it is not given.
  } while (peers_.contains(id));
  return peers_.emplace(id, make(id)).first->second;
}

/// A peer that is made after the context's end gets no connection.
std::shared_ptr<peer> peer_registry::make(peer_id id) {
  if (free_list_.empty()) collect();
  std::shared_ptr<peer> p;
  if (free_list_.empty()) {
    p = std::make_shared<peer>(services_, tables_, id);
  } else {
    free_list_.back()->recycle_as(id);
    p = std::move(free_list_.back());
    free_list_.pop_back();
  }
  if (closed_) p->end({errc::closed, context_ended});
  return p;
}

/// Frees peers that have ended and have no owner. Runs when there are twice as many peers as the
/// last run left: so its cost is shared among the peers that were new since, however many endpoints
/// of ended peers are kept.
void peer_registry::collect() {
  constexpr std::size_t few = 16;
  if (peers_.size() < std::max(collect_at_, few)) return;
  free_list_.reserve(peers_.size());
  for (auto at = peers_.begin(); at != peers_.end();) {
    auto& [id, p] = *at;
    if (!p->is_reusable() || p.use_count() != 1) {
      ++at;
      continue;
    }
    departed_[p->connection().transport()] += std::exchange(p->connection().traffic(), {});
    if (id < first_new_)
      rank_ends_.insert_or_assign(id, static_cast<std::uint8_t>(p->why()));
    else if (id - first_new_ < ends_.size())
      ends_[id - first_new_] = static_cast<std::uint8_t>(p->why());
    // Not moved: the use count that was read orders the former owners' accesses before this.
    free_list_.push_back(p);
    at = peers_.erase(at);
    free_list_.back()->shrink();
  }
  collect_at_ = 2 * peers_.size();
}

errc peer_registry::why_ended(peer_id id) const noexcept {
  if (id < first_new_) {
    const auto gone = rank_ends_.find(id);
    return gone == rank_ends_.end() ? errc::ok : static_cast<errc>(gone->second);
  }
  const std::size_t number = id - first_new_;
  return number < ends_.size() ? static_cast<errc>(ends_[number]) : errc::unreachable;
}

}  // namespace weft::proto
