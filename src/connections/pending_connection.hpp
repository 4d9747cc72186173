// SPDX-License-Identifier: Apache-2.0
// The way to the first channel to a peer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "proto/peer/peer.hpp"
#include "wireup/auth/context_address.hpp"
#include "wireup/base/failure.hpp"
#include "wireup/channel/channel.hpp"

namespace weft::connections {

/// Finds out where a rank is. \param gone empty, or where the rank was found before, and is not any
/// more (job::find_next) \param found called once, on any thread; an empty locator: nowhere
using rank_finder = std::function<void(peer_id rank, const std::string& gone,
                                       std::function<void(std::string locator)> found)>;

/// One search, which keeps itself alive until it has ended. On the connection manager's thread.
///
///     locating --locator--> connecting --channel, or why not--> ended
///        ^                      |
///        +----------------------+ the process there has ended: the rank's next program is looked
///        for
///
/// It ends earlier if the peer is closed, or goes, meanwhile.
class pending_connection : public std::enable_shared_from_this<pending_connection> {
 public:
  enum class state : std::uint8_t { locating, connecting, ended };

  /// What a search asks, and tells. The connection set-up.
  class owner {
   public:
    /// Whether a connection to the peer is still wanted.
    virtual bool is_wanted(const std::shared_ptr<proto::peer>& p) = 0;
    /// Whether a rank's next program is to be looked for after the one that was found has ended.
    virtual bool is_unmet(const proto::peer& p) const = 0;
    /// \param p the peer whose rank is looked for
    virtual void locate(const proto::peer& p, const std::string& gone,
                        std::function<void(std::string locator)> found) = 0;
    /// \param p the peer whose lane is wanted there
    virtual void connect(const proto::peer& p, const std::string& locator,
                         wireup::channel_ready done) = 0;
    virtual void connect(const proto::peer& p, const wireup::unpacked_address& address,
                         wireup::channel_ready done) = 0;
    /// The end. `c` is null: none came about, for that reason. \param wanted as is_wanted
    virtual void connected(const std::shared_ptr<proto::peer>& p, const wireup::channel_ptr& c,
                           const wireup::failure& why, bool wanted) = 0;

   protected:
    ~owner() = default;
  };

  pending_connection(owner& o, std::shared_ptr<proto::peer> p) : owner_(o), peer_(std::move(p)) {}

  state now() const noexcept { return state_; }

  /// Looks for a rank. \param gone as rank_finder \param unfound why it fails if there is none
  void locate(const std::string& gone, wireup::failure unfound);
  /// Connects to a context at a known address.
  void connect(const wireup::unpacked_address& address);

 private:
  void on_located(const std::string& locator);
  void on_connected(const wireup::channel_ptr& c, const wireup::failure& why);
  void end(const wireup::channel_ptr& c, const wireup::failure& why, bool wanted);

  owner& owner_;
  const std::shared_ptr<proto::peer> peer_;
  state state_ = state::locating;
  std::string locator_;      // where the rank is; empty: a context at an address
  wireup::failure unfound_;  // why it fails if the rank is nowhere
};

}  // namespace weft::connections
