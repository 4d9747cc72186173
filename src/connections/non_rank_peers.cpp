// SPDX-License-Identifier: Apache-2.0
#include "connections/non_rank_peers.hpp"

#include <algorithm>

namespace weft::connections {

bool is_over(const proto::messenger& m, const proto::peer& p, peer_counts counts) {
  const runtime::engine::holder hold(m.engine());
  return counts == peer_counts::until_closing ? p.writer().parting() : p.gone();
}

/// With the mutex held.
non_rank_peers::entry& non_rank_peers::find(const wireup::context_id& id, peer_counts counts) {
  entry& known = known_[id];
  if (!known.peer || is_over(messenger_, *known.peer, counts))
    known.peer = messenger_.peers().add();
  return known;
}

std::shared_ptr<proto::peer> non_rank_peers::with(const wireup::context_id& id,
                                                  peer_counts counts) {
  const std::lock_guard lock(mutex_);
  return find(id, counts).peer;
}

std::shared_ptr<proto::peer> non_rank_peers::at(const wireup::unpacked_address& address) {
  const std::lock_guard lock(mutex_);
  entry& known = find(address.id, peer_counts::until_closing);
  known.address = address;
  return known.peer;
}

std::optional<wireup::unpacked_address> non_rank_peers::address_of(const proto::peer& p) const {
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(known_.begin(), known_.end(),
                                  [&](const auto& one) { return one.second.peer.get() == &p; });
  if (known == known_.end()) return {};
  return known->second.address;
}

void non_rank_peers::erase(const wireup::context_id& id, const proto::peer& p) noexcept {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(id);
  if (known != known_.end() && known->second.peer.get() == &p) known_.erase(known);
}

}  // namespace weft::connections
