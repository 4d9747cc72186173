// SPDX-License-Identifier: Apache-2.0
// The messages of a context.
#pragma once

#include <cstddef>
#include <string_view>

#include <weft/metrics.hpp>

#include "proto/calls/call_table.hpp"
#include "proto/frames/connector.hpp"
#include "proto/groups/group_table.hpp"
#include "proto/match/match.hpp"
#include "proto/match/unexpected_memory.hpp"
#include "proto/messenger/receives.hpp"
#include "proto/messenger/stream_table.hpp"
#include "proto/peer/peer.hpp"
#include "proto/peer/peer_registry.hpp"
#include "proto/peer/peer_upkeep.hpp"
#include "proto/peer/protocol_tables.hpp"
#include "proto/rma/region_table.hpp"
#include "proto/select/scheme_costs.hpp"
#include "proto/services/services.hpp"

namespace weft::proto {

/// The protocol layer of a context: makes the services and the tables that its peers and their
/// parts share, owns what they refer to, and begins and ends all of it. Owned by the context.
/// Functions that say "any thread" take the progress lock themselves; for the others it must be
/// held.
class messenger {
 public:
  messenger(runtime::engine& engine, messenger_settings s);
  ~messenger();
  messenger(const messenger&) = delete;
  messenger& operator=(const messenger&) = delete;

  /// Once, before the first operation. \param c makes links to peers
  void attach(connector& c) noexcept { tables_.connections = &c; }
  connector& connections() const noexcept { return *tables_.connections; }
  /// The engine will have a trace: no message takes a short path, which would leave it out. Before
  /// any peer is connected.
  void record_all() noexcept { services_.sends_shortly = services_.posts_shortly = false; }

  runtime::engine& engine() const noexcept { return engine_; }
  const messenger_settings& settings() const noexcept { return settings_; }
  const protocol_services& services() const noexcept { return services_; }

  peer_registry& peers() noexcept { return peers_; }
  const peer_registry& peers() const noexcept { return peers_; }
  peer_upkeep& upkeep() noexcept { return upkeep_; }
  proto::receives& receives() noexcept { return receives_; }
  match_table& table() noexcept { return table_; }
  pool<inbound_message>& messages() noexcept { return messages_; }
  unexpected_memory& memory() noexcept { return memory_; }
  region_table& regions() noexcept { return regions_; }
  stream_table& streams() noexcept { return streams_; }
  group_table& groups() noexcept { return groups_; }
  call_table& calls() noexcept { return calls_; }
  const match_table& matching() const noexcept { return table_; }
  scheme_cost_table& costs() noexcept { return costs_; }
  const scheme_cost_table& costs() const noexcept { return costs_; }
  metrics& counts() noexcept { return counts_; }

  // --- the context ----------------------------------------------------------------------------

  metrics snapshot() const;  ///< any thread
  metrics snapshot_held() const;
  /// Whether a peer has yet to be told something, such as that its message was received. Any
  /// thread.
  bool unsent() const noexcept;
  /// The end begins: what this side has accepted or owes goes on, and nothing new begins. Any
  /// thread.
  void begin_end() noexcept;
  /// Whether anything that was accepted from the application, or is owed to a peer, has not left.
  /// Any thread.
  bool owes() const noexcept;
  /// Gives up the peers to which something is owed: they learn `why`, and so do the operations
  /// here. Any thread. \return how many
  std::size_t give_up_debts(std::string_view why) noexcept;
  /// Whether a stream without a handle waits for its end. After close_all: not for long. Any
  /// thread.
  bool streams_linger() const noexcept;
  /// Memory ran out before a link was made: peers that wait for one fail.
  void fail_unconnected() noexcept;
  /// Ends all operations with all peers. Later ones end at once.
  void close_all() noexcept;
  /// After that, and without the progress lock: views of loans that are left report their end
  /// nowhere.
  void close_views() noexcept;

 private:
  runtime::engine& engine_;
  const messenger_settings settings_;
  metrics counts_;
  protocol_services services_;
  protocol_tables tables_;
  match_table table_;
  pool<inbound_message> messages_;
  unexpected_memory memory_;
  stream_table streams_;
  proto::receives receives_;
  call_table calls_;
  region_table regions_;
  group_table groups_;
  peer_upkeep upkeep_;
  peer_registry peers_;
  scheme_cost_table costs_;
};

}  // namespace weft::proto
