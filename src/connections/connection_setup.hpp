// SPDX-License-Identifier: Apache-2.0
// Connections of a lane: finds peers, agrees with them on a transport, and ends them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/transport/wireup_message.hpp>

#include "connections/manager_proxy.hpp"
#include "connections/non_rank_peers.hpp"
#include "connections/pending_connection.hpp"
#include "connections/remote_process_table.hpp"
#include "connections/transport_attempts.hpp"
#include "connections/transport_list.hpp"
#include "proto/frames/connector.hpp"
#include "proto/messenger/messenger.hpp"
#include "wireup/auth/context_address.hpp"
#include "wireup/job/job.hpp"
#include "wireup/manager/connection_manager.hpp"

namespace weft::connections {

/// Between the messenger, which wants links to peers, and the connection manager, which has
/// channels to processes. Owned by the lane. Every function runs on the connection manager's
/// thread unless it says otherwise, and takes the progress lock where it touches peers or
/// transports.
///
///     messenger -- connect(peer) --> pending_connection -- channel --> remote_process
///     messenger <-- peer::opened -- link_negotiation (of the remote_process)
class connection_setup final : public proto::connector,
                               public wireup::channel_events,
                               private pending_connection::owner {
 public:
  /// \param t filled before the first connection
  /// \param lane of the context, that the engine and the messenger are of
  connection_setup(runtime::engine& e, proto::messenger& m, const transport_list& t,
                   const wireup::job& j, proto::lane_number lane);

  /// Once, before anything else; the manager outlives the use of this.
  /// \param lanes all of the context, which this is one of; they live as long
  void attach(wireup::connection_manager& m, rank_finder finder,
              const std::vector<connection_setup*>& lanes);

  /// How other threads reach the manager's; shut before the manager ends.
  const std::shared_ptr<manager_proxy>& manager() const noexcept { return manager_; }

  // proto::connector: any thread, progress lock held.
  void connect(proto::peer& p) noexcept override;
  void disconnected(proto::peer& p) noexcept override;
  void given_up(proto::peer& p) override;
  std::string describe(const proto::peer& p) const override;
  // proto::connector: any thread, progress lock not held.
  std::shared_ptr<proto::peer> lane_of(const proto::peer& p, unsigned lane) override;
  proto::peer_place place_of(const proto::peer& p) const override;

  /// Any thread, progress lock held. The transports that were tried on the way to a peer.
  std::vector<transport_attempt> attempts(const proto::peer& p) const { return attempts_.of(p); }

  /// Any thread, progress lock not held. \return the peer at that address \throws std::bad_alloc
  std::shared_ptr<proto::peer> peer_at(const wireup::unpacked_address& address);

  /// A channel has come about by an address (listener, connect, meet). \return its peer, a new one
  /// if the two contexts have closed the old one, or are closing it; null: the process is not the
  /// one that it says it is, and the channel is closed
  /// \param address by which this side met it, for errors; empty: the other side came
  std::shared_ptr<proto::peer> peer_met(const wireup::channel_ptr& c, std::string address);

  // channel_events, of this lane.
  void on_wireup_message(const wireup::channel_ptr& c, transports::wireup_message m) override;
  void on_ended(const wireup::channel_ptr& c, const proto::ended& how) override;

  /// The launcher, or rank 0, says that a rank's process has ended.
  void on_rank_ended(peer_id rank, bool died);
  /// A rank is no member of the job any more. It may have something to finish with peers that it
  /// has met.
  void on_rank_left(peer_id rank);
  /// The control plane had no memory for something: peers that wait for a link may wait forever,
  /// and are ended.
  void on_exhausted();

  /// Ends what is being drained. Any thread, progress lock not held, once the manager has ended.
  void stop_draining() { processes_.stop_draining(); }

 private:
  // pending_connection::owner
  bool is_wanted(const std::shared_ptr<proto::peer>& p) override;
  bool is_unmet(const proto::peer& p) const override;
  void locate(const proto::peer& p, const std::string& gone,
              std::function<void(std::string locator)> found) override;
  void connect(const proto::peer& p, const std::string& locator,
               wireup::channel_ready done) override;
  void connect(const proto::peer& p, const wireup::unpacked_address& address,
               wireup::channel_ready done) override;
  void connected(const std::shared_ptr<proto::peer>& p, const wireup::channel_ptr& c,
                 const wireup::failure& why, bool wanted) override;

  std::shared_ptr<pending_connection> search_for(const std::shared_ptr<proto::peer>& p);
  void begin(const std::shared_ptr<proto::peer>& p);
  void open_self(proto::peer& p);
  bool use_channels(const proto::peer& p);
  void advance(remote_process& process);
  void advance_soon(remote_process& process);
  void find_socket(remote_process& process);
  void end(remote_process& process, const proto::ended& how, bool keeps_peer = false);
  void drain_soon();
  void give_up(remote_process& process, const proto::ended& how);
  bool refuse_if_lost(const proto::peer& p);
  std::optional<proto::ended> loss_of(const proto::peer& p) const;
  void drop(const wireup::channel_ptr& c);
  void give_up(proto::peer& p, errc why, const std::string& detail);
  std::string absent(peer_id rank) const;
  wireup::lane_pair lanes_to(const proto::peer& p) const;
  std::vector<std::shared_ptr<proto::peer>> peers_of(peer_id rank) const;

  runtime::engine& engine_;
  proto::messenger& messenger_;
  const transport_list& transports_;
  const wireup::job& job_;
  const proto::lane_number lane_;
  const std::shared_ptr<manager_proxy> manager_ = std::make_shared<manager_proxy>();
  wireup::connection_manager* attached_ = nullptr;
  rank_finder finder_;
  transport_attempts attempts_;  // progress lock held
  non_rank_peers non_ranks_;
  remote_process_table processes_;
  bool drain_scheduled_ = false;  // one timer for all that are draining
};

}  // namespace weft::connections
