// SPDX-License-Identifier: Apache-2.0
#include "bindings/ofi/endpoint/peer_table.hpp"

#include <utility>

#include <weft/context.hpp>

namespace weft::ofi {

const weft::endpoint* peer_table::meet(fi_addr_t address) noexcept {
  const weft::endpoint* met = nullptr;
  guarded([&] {
    const auto where = names_.at(index_of(address));
    const std::size_t at = place_of(address);
    if (!where || at >= blocks * per_block) return -FI_EINVAL;
    const std::lock_guard lock(mutex_);
    std::unique_ptr<block>& b = owned_[at / per_block];
    if (!b) b = std::make_unique<block>();
    blocks_[at / per_block].store(b.get(), std::memory_order_release);
    weft::endpoint& peer = b->owned[at % per_block];
    if (!peer) {
      weft::endpoint found = peer_at(context_, *where);
      if (context_of(address) != 0) found = found.lane(context_of(address));
      addresses_.try_emplace(found.id(), index_of(address));
      peer = std::move(found);
      b->peers[at % per_block].store(&peer, std::memory_order_release);
    }
    met = &peer;
    return 0;
  });
  return met;
}

fi_addr_t peer_table::known(peer_id id) {
  const std::lock_guard lock(mutex_);
  const auto found = addresses_.find(id);
  return found == addresses_.end() ? FI_ADDR_NOTAVAIL : found->second;
}

fi_addr_t peer_table::address_of(peer_id id) noexcept {
  fi_addr_t found = known(id);
  if (found != FI_ADDR_NOTAVAIL) return found;
  // A peer that sent first: it is among the addresses that were not met yet.
  const std::size_t n = names_.size();
  for (std::size_t a = met_up_to_.load(std::memory_order_acquire); a < n; ++a) meet(a);
  met_up_to_.store(n, std::memory_order_release);
  found = known(id);
  if (found != FI_ADDR_NOTAVAIL || bits_ == 0) return found;
  // It sent by another of its contexts than the first one, which was met.
  guarded([&] {
    found = known(context_.peer(id).lane(0).id());
    const std::lock_guard lock(mutex_);
    if (found != FI_ADDR_NOTAVAIL) addresses_.try_emplace(id, found);
    return 0;
  });
  return found;
}

}  // namespace weft::ofi
