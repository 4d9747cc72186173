// SPDX-License-Identifier: Apache-2.0
// Which transports were tried on the way to each peer, and with what result.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <weft/error.hpp>
#include <weft/message.hpp>

namespace weft::proto {
class peer;
}

namespace weft::connections {

/// One transport, or one of its links where it has several to a peer.
struct transport_attempt {
  std::string transport;
  std::string trouble;  ///< why it cannot be used; empty: it carries what is sent to the peer
};

/// For people (weft-info, error messages). Progress lock held only.
class transport_attempts {
 public:
  /// \throws std::bad_alloc
  void add(const proto::peer& p, transport_attempt made);

  /// \return all attempts, in their order \throws std::bad_alloc
  std::vector<transport_attempt> of(const proto::peer& p) const;

  /// The peer ends. If no transport reached it, its attempts are kept for a while: the application
  /// may ask for them. \throws std::bad_alloc
  void forget(const proto::peer& p, errc why);

 private:
  using list = std::vector<transport_attempt>;

  static constexpr std::size_t most_unreached = 16;

  std::map<const proto::peer*, list> attempts_;
  std::deque<std::pair<peer_id, list>> unreached_;  // of the last peers that nothing reached
};

}  // namespace weft::connections
