// SPDX-License-Identifier: Apache-2.0
#include "connections/non_rank_peers.hpp"

#include <algorithm>

namespace weft::connections {

bool counts_no_more(const proto::messenger& m, const proto::peer& p, peer_counts counts) {
  const runtime::engine::holder hold(m.engine());
  return counts == peer_counts::until_closing ? p.writer().is_closing() : p.has_ended();
}

/// With the mutex held.
non_rank_peers::entry& non_rank_peers::find(const wireup::lane_id& id, peer_counts counts) {
  entry& known = known_[id];
  if (!known.peer || counts_no_more(messenger_, *known.peer, counts))
    known.peer = messenger_.peers().add();
  return known;
}

/// With the mutex held.
non_rank_peers::map::const_iterator non_rank_peers::find(const proto::peer& p) const {
  return std::find_if(known_.begin(), known_.end(),
                      [&](const auto& one) { return one.second.peer.get() == &p; });
}

std::shared_ptr<proto::peer> non_rank_peers::with(const wireup::identity& id, peer_counts counts) {
  const std::lock_guard lock(mutex_);
  entry& known = find(id.id_of_lane(), counts);
  known.locator = id.locator;
  return known.peer;
}

std::shared_ptr<proto::peer> non_rank_peers::at(const wireup::unpacked_address& address,
                                                proto::lane_number lane) {
  const std::lock_guard lock(mutex_);
  entry& known = find({address.id, lane}, peer_counts::until_closing);
  if (!known.address || !address.key.empty()) known.address = address;
  return known.peer;
}

/// With the mutex held. An address with its key, by which other hosts connect, is recorded with one
/// lane and holds for all; a locator leads to contexts of this host.
std::optional<wireup::unpacked_address> non_rank_peers::address_of(
    map::const_iterator known) const {
  const wireup::context_id& context = known->first.context;
  for (auto i = known_.lower_bound({context, 0}); i != known_.end(); ++i) {
    if (i->first.context != context) break;
    if (i->second.address && !i->second.address->key.empty()) return i->second.address;
  }
  if (known->second.address) return known->second.address;
  if (const auto where = wireup::parse_locator(known->second.locator))
    return wireup::unpacked_address{context, *where, {}};
  return {};
}

std::shared_ptr<proto::peer> non_rank_peers::lane_of(const proto::peer& p,
                                                     proto::lane_number lane) {
  std::optional<wireup::unpacked_address> address;
  {
    const std::lock_guard lock(mutex_);
    const auto known = find(p);
    if (known == known_.end()) return nullptr;
    address = address_of(known);
  }
  return address ? at(*address, lane) : nullptr;
}

std::optional<non_rank_peers::place> non_rank_peers::place_of(const proto::peer& p) const {
  const std::lock_guard lock(mutex_);
  const auto known = find(p);
  if (known == known_.end()) return {};
  return place{known->first.lane, known->second.address};
}

void non_rank_peers::erase(const wireup::lane_id& id, const proto::peer& p) noexcept {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(id);
  if (known != known_.end() && known->second.peer.get() == &p) known_.erase(known);
}

}  // namespace weft::connections
