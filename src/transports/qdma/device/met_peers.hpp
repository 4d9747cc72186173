// SPDX-License-Identifier: Apache-2.0
// The contexts that a device has met.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

#include "transports/qdma/peer.hpp"

namespace weft::transports::qdma {

/// Peers by their ids, and the last ones that were lost. Owned by the device; progress lock held
/// only.
class met_peers {
 public:
  /// \return null: not met, or lost
  peer* find(vpid v) const noexcept {
    const auto at = peers_.find(v);
    return at == peers_.end() ? nullptr : at->second.get();
  }
  bool contains(vpid v) const noexcept { return peers_.contains(v); }
  std::size_t size() const noexcept { return peers_.size(); }

  /// \throws std::bad_alloc
  void add(vpid v, std::unique_ptr<peer> p) { peers_.emplace(v, std::move(p)); }
  void lose(vpid v) noexcept {
    peers_.erase(v);
    last_lost_[lost_++ % last_lost_.size()] = v;
  }
  /// Whether it was lost not long ago.
  bool was_lost(vpid v) const noexcept {
    return std::find(last_lost_.begin(), last_lost_.end(), v) != last_lost_.end();
  }
  void clear() noexcept { peers_.clear(); }

  /// There is room for the peer with that index.
  void ring(std::uint32_t index) noexcept;
  /// Wakes those that sleep and have not read all that was posted.
  void wake() noexcept;
  bool has_unconsumed() const noexcept;
  std::uint64_t bells_rung() const noexcept;
  /// How many have memory that this process cannot reach, as they did not allocate it.
  std::size_t without_cma() const noexcept;

 private:
  std::unordered_map<vpid, std::unique_ptr<peer>> peers_;
  std::array<vpid, 64> last_lost_{};  // their entries may not show it yet: sockets close earlier
  std::size_t lost_ = 0;
};

}  // namespace weft::transports::qdma
