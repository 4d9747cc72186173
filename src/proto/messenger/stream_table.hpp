// SPDX-License-Identifier: Apache-2.0
// The open streams of a context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>

#include <weft/message.hpp>

#include "proto/frames/stream_wire.hpp"

namespace weft::proto {

/// A number can be taken once for each peer, and twice for this process itself. Owned by the
/// messenger; progress lock held only.
class stream_table {
 public:
  /// Sets the number of this process among its peers: a stream with it has both its ends in this
  /// process.
  void know_self(peer_id self) noexcept { self_ = self; }

  bool is_self(peer_id with) const noexcept { return with == self_; }

  /// Takes a number. \return the direction in which this end writes; nothing: the stream is open
  /// already
  /// \throws std::bad_alloc
  std::optional<stream_way> take(peer_id with, std::uint32_t number) {
    if (open_.insert({with, number, stream_way::forth}).second) return stream_way::forth;
    if (with == self_ && open_.insert({with, number, stream_way::back}).second)
      return stream_way::back;
    return std::nullopt;
  }
  /// Takes a number for the stream of an object. \return false: it is open already
  /// \throws std::bad_alloc
  bool take(peer_id with, std::uint32_t number, stream_way way) {
    return open_.insert({with, number, way}).second;
  }
  void give_back(peer_id with, std::uint32_t number, stream_way way) noexcept {
    open_.erase({with, number, way});
  }

  /// The number of the last object that was sent in pieces.
  std::uint32_t last_object = 0;

  /// Streams without a handle that their peers do not know to have ended.
  std::size_t lingering = 0;

 private:
  peer_id self_ = no_peer;
  std::set<std::tuple<peer_id, std::uint32_t, stream_way>> open_;
};

}  // namespace weft::proto
