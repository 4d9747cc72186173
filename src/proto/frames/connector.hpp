// SPDX-License-Identifier: Apache-2.0
// The interface of messaging to connection set-up.
#pragma once

#include <memory>
#include <string>

#include <weft/error.hpp>

#include "proto/frames/peer_number.hpp"

namespace weft::proto {

class peer;

/// The only interface between the messenger and the layer that makes connections (src/connections).
/// Outlives the messenger's use of it. Functions are called by any thread, with the progress lock
/// held unless they say otherwise, and do not block.
class connector {
 public:
  /// Requests a link to that peer. The answer is a call of peer::opened or peer::give_up, at any
  /// time and from any thread that holds the progress lock.
  virtual void connect(peer& p) noexcept = 0;

  /// Both sides have closed the peer: no frame is under way in either direction.
  virtual void disconnected(peer&) noexcept {}

  /// This side has given the peer up, and its process may be alive and waiting: its operations with
  /// this side must end, too. \throws std::bad_alloc; the function is then called again at a later
  /// pass
  virtual void given_up(peer&) {}

  /// \return one line about the connection, for people
  virtual std::string describe(const peer&) const { return {}; }

  /// Without the progress lock.
  /// \return the peer that is another lane of the same process
  /// \throws weft::error (invalid_argument) if there can be none, (closed) if that peer has gone;
  ///         std::bad_alloc
  virtual std::shared_ptr<peer> lane_of(const peer&, unsigned) {
    throw error(errc::unsupported, "peers have no lanes here");
  }
  /// Without the progress lock.
  virtual peer_place place_of(const peer&) const { return {}; }

 protected:
  ~connector() = default;
};

}  // namespace weft::proto
