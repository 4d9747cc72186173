// SPDX-License-Identifier: Apache-2.0
// Which streams of a context are open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>

#include <weft/message.hpp>

#include "proto/stream_wire.hpp"

namespace weft::proto {

/// A number is taken once for each peer, and twice for this process itself. Owned by the messenger;
/// progress lock held only.
class stream_table {
 public:
  /// The number of this process among its peers: a stream with it has both its ends here.
  void know_self(peer_id self) noexcept { self_ = self; }

  bool is_self(peer_id with) const noexcept { return with == self_; }

  /// Takes a number. \return which way this end writes; nothing: it is open already
  /// \throws std::bad_alloc
  std::optional<stream_way> take(peer_id with, std::uint32_t number) {
    if (open_.insert({with, number, stream_way::forth}).second) return stream_way::forth;
    if (with == self_ && open_.insert({with, number, stream_way::back}).second)
      return stream_way::back;
    return std::nullopt;
  }
  void give_back(peer_id with, std::uint32_t number, stream_way way) noexcept {
    open_.erase({with, number, way});
  }

  /// Streams without a handle, and whose peers do not know yet.
  std::size_t lingering = 0;

 private:
  peer_id self_ = no_peer;
  std::set<std::tuple<peer_id, std::uint32_t, stream_way>> open_;
};

}  // namespace weft::proto
