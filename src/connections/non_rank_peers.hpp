// SPDX-License-Identifier: Apache-2.0
// Peers that are no ranks of the job: met by address, or by a context address.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "proto/messenger/messenger.hpp"
#include "wireup/auth/context_address.hpp"
#include "wireup/base/identity.hpp"
#include "wireup/sockets/locator.hpp"

namespace weft::connections {

/// Until when a peer stands for its context. Afterwards the next connection to the same context
/// gets another peer.
enum class peer_counts : bool {
  until_ended,   ///< also while it is being closed
  until_closing  ///< no longer: a connection that was asked for afterwards is meant
};

/// Whether that peer does not count any more. Any thread, progress lock not held.
bool counts_no_more(const proto::messenger& m, const proto::peer& p, peer_counts counts);

/// Any thread, progress lock not held.
class non_rank_peers {
 public:
  explicit non_rank_peers(proto::messenger& m) noexcept : messenger_(m) {}

  /// \return the peer that stands for that lane of a context; made if there is none that counts
  /// \throws std::bad_alloc
  std::shared_ptr<proto::peer> with(const wireup::identity& id, peer_counts counts);
  /// The same for a context whose address is known, which is remembered. \throws std::bad_alloc
  std::shared_ptr<proto::peer> at(const wireup::unpacked_address& address, proto::lane_number lane);
  /// \return another lane of the same context; null: it is not known where that context is
  /// \throws std::bad_alloc
  std::shared_ptr<proto::peer> lane_of(const proto::peer& p, proto::lane_number lane);

  struct place {
    proto::lane_number lane = 0;
    std::optional<wireup::unpacked_address> address;  ///< nothing: its address is not known
  };
  /// \return where a peer is; nothing: it stands for no context \throws std::bad_alloc
  std::optional<place> place_of(const proto::peer& p) const;
  /// The peer does not stand for that lane any more.
  void erase(const wireup::lane_id& id, const proto::peer& p) noexcept;

 private:
  struct entry {
    std::shared_ptr<proto::peer> peer;
    std::optional<wireup::unpacked_address> address;
    std::string locator;  // where it listens, if it has come by itself
  };
  using map = std::map<wireup::lane_id, entry>;

  entry& find(const wireup::lane_id& id, peer_counts counts);
  map::const_iterator find(const proto::peer& p) const;
  std::optional<wireup::unpacked_address> address_of(map::const_iterator known) const;

  proto::messenger& messenger_;
  mutable std::mutex mutex_;
  map known_;  // guarded by mutex_
};

}  // namespace weft::connections
