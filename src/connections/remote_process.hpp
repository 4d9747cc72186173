// SPDX-License-Identifier: Apache-2.0
// A lane of another process, or of this one, as connection set-up sees it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <weft/error.hpp>

#include "connections/link_negotiation.hpp"
#include "connections/services.hpp"
#include "proto/peer/peer.hpp"
#include "wireup/base/identity.hpp"
#include "wireup/channel/channel.hpp"

namespace weft::connections {

/// From its first channel until its last one has ended. A context that connects again after a close
/// is another one of these. On the connection manager's thread; takes the progress lock itself.
class remote_process {
 public:
  ///     present --end--> draining --drain--> ended
  ///        +----end (there is nothing to drain)----^
  enum class state : std::uint8_t {
    present,   ///< it has a channel; links are made with it
    draining,  ///< it has ended; frames that it sent before are still delivered
    ended      ///< so has its peer; channels may end later
  };

  remote_process(const services& s, const wireup::lane_id& id, std::shared_ptr<proto::peer> p);
  remote_process(const remote_process&) = delete;
  remote_process& operator=(const remote_process&) = delete;

  const wireup::lane_id& id() const noexcept { return id_; }
  const std::shared_ptr<proto::peer>& peer() const noexcept { return peer_; }
  state now() const noexcept { return state_; }
  bool is_present() const noexcept { return state_ == state::present; }

  /// Those that have not ended, oldest first.
  const std::vector<wireup::channel_ptr>& channels() const noexcept { return channels_; }
  bool has(const wireup::channel_ptr& c) const noexcept;
  /// The first one over a Unix socket also begins to watch the process. \throws std::bad_alloc
  void add(const wireup::channel_ptr& c);
  void remove(const wireup::channel_ptr& c) noexcept;

  link_negotiation& links() noexcept { return links_; }

  /// The process has ended, or has to do with this one no more; nothing happens if that was known.
  /// \param how the peer ends, if it has not ended yet
  /// \param keeps_peer the peer does not end with the process
  /// \return true: it is draining, and `drain` is to be called again and again
  bool end(const proto::ended& how, bool keeps_peer);
  /// Delivers some of what the peer has sent. Draining only. \return false: it has ended
  bool drain();
  /// The end of draining, whatever is still under way.
  void stop_draining();

 private:
  void watch_process(const wireup::channel_ptr& c);
  void end_peer(const proto::ended& how, bool keeps_peer);

  const services services_;
  const wireup::lane_id id_;
  const std::shared_ptr<proto::peer> peer_;
  state state_ = state::present;
  std::vector<wireup::channel_ptr> channels_;
  link_negotiation links_;
  std::uint64_t watch_ = 0;     // for the end of the process; 0: none
  proto::ended how_{errc::ok};  // while it is draining
  std::chrono::steady_clock::time_point drain_until_;
};

}  // namespace weft::connections
