// SPDX-License-Identifier: Apache-2.0
// The messages of a context.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <weft/claim.hpp>
#include <weft/metrics.hpp>
#include <weft/rendezvous.hpp>

#include "proto/calls/call_table.hpp"
#include "proto/frames/connector.hpp"
#include "proto/groups/group_table.hpp"
#include "proto/match/match.hpp"
#include "proto/match/unexpected_memory.hpp"
#include "proto/messenger/stream_table.hpp"
#include "proto/peer/peer.hpp"
#include "proto/peer/peer_registry.hpp"
#include "proto/peer/peer_upkeep.hpp"
#include "proto/rma/region_table.hpp"
#include "proto/select/scheme_costs.hpp"
#include "proto/support/pool.hpp"
#include "proto/support/secret.hpp"
#include "runtime/progress/engine.hpp"

namespace weft::proto {

/// Settings of the protocols. Sizes in bytes.
struct messenger_settings {
  std::size_t unexpected_budget = 0;
  std::optional<std::size_t> eager_limit;                             ///< empty: the transport's
  std::map<std::string, std::size_t, std::less<>> eager_limits = {};  ///< as options::eager_limits
  std::uint64_t hashed_tag_bits = ~std::uint64_t{0};  ///< as options::hashed_tag_bits
  rendezvous_scheme rendezvous = rendezvous_scheme::automatic;
  rendezvous_eager_data eager_data = rendezvous_eager_data::automatic;
  chained_fin chained = chained_fin::automatic;
  unsigned calls_at_once = 256;                  ///< as options::calls_at_once
  bool receiver_first = false;                   ///< as options::experiments::receiver_first
  std::optional<std::size_t> fixed_credit = {};  ///< as options::experiments::fixed_credit
  std::chrono::nanoseconds stop_timeout = std::chrono::seconds(10);  ///< as options::stop_timeout
  /// Makes numbers that no peer can guess; a simulation has its own, so that a run can be repeated.
  std::function<std::uint64_t()> secret = secret_word;

  /// The eager limit over a transport.
  std::size_t eager_limit_over(const transports::traits& t) const noexcept {
    const auto own = eager_limits.find(t.name);
    return own != eager_limits.end() ? own->second : eager_limit.value_or(t.eager_limit);
  }
};

/// The protocol layer of a context: matching, and the state that all peers share. Owned by the
/// context. Functions that say "any thread" take the progress lock themselves; for the others it
/// must be held.
class messenger {
 public:
  messenger(runtime::engine& engine, messenger_settings s);
  ~messenger();
  messenger(const messenger&) = delete;
  messenger& operator=(const messenger&) = delete;

  /// Once, before the first operation. \param c makes links to peers
  void attach(connector& c) noexcept { connector_ = &c; }
  connector& connections() const noexcept { return *connector_; }
  /// The engine will have a trace: no message takes a short path, which would leave it out. Before
  /// any peer is connected.
  void record_all() noexcept { sends_shortly_ = posts_shortly_ = false; }
  bool sends_shortly() const noexcept { return sends_shortly_; }
  bool posts_shortly() const noexcept { return posts_shortly_; }  ///< any thread
  /// Whether a message with that tag comes too late.
  bool refuses(std::uint64_t tag) const noexcept { return ending_ && begins_something(tag); }

  runtime::engine& engine() const noexcept { return engine_; }
  const messenger_settings& settings() const noexcept { return settings_; }

  peer_registry& peers() noexcept { return peers_; }
  const peer_registry& peers() const noexcept { return peers_; }
  peer_upkeep& upkeep() noexcept { return upkeep_; }
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

  // --- receives and probes --------------------------------------------------------------------

  bool start(probe_operation& op) noexcept;             ///< any thread
  void cancel(detail::match_operation& op) noexcept;    ///< any thread
  bool withdraw(detail::match_operation& op) noexcept;  ///< any thread
  bool start_held(recv_operation& op) noexcept;
  bool start_held(probe_operation& op) noexcept;
  /// \param claimed null afterwards; if null before, the message is no longer there
  static bool start_held(claimed_operation& op, inbound_message*& claimed) noexcept;
  /// Any thread.
  std::optional<received> try_probe(peer* from, tag_mask tag) noexcept;
  /// Any thread.
  std::optional<claimed_message> try_claim(peer* from, tag_mask tag) noexcept;
  /// As receiver::discard. Any thread.
  void discard(inbound_message& claimed, bool used = false) noexcept;

  // --- the context ----------------------------------------------------------------------------

  metrics snapshot() const;  ///< any thread
  /// Whether a peer has yet to be told something, such as that its message was received. Any
  /// thread.
  bool unsent() const noexcept;
  /// The end begins: what this side has accepted or owes goes on, and nothing new begins. Any
  /// thread.
  void begin_end() noexcept;
  bool is_ending() const noexcept { return ending_; }
  /// Whether anything that was accepted from the application, or is owed to a peer, has not left.
  /// Any thread.
  bool owes() const noexcept;
  /// Gives up the peers to which something is owed: they learn `why`, and so do the operations
  /// here. Any thread. \return how many
  std::size_t give_up_debts(std::string_view why) noexcept;
  /// Whether a stream without a handle waits for its end. After close_all: not for long. Any
  /// thread.
  bool streams_linger() const noexcept;
  /// One line about a peer, for people. Any thread.
  std::string describe(const peer& p) const;
  /// Memory ran out before a link was made: peers that wait for one fail.
  void fail_unconnected() noexcept;
  /// Ends all operations with all peers. Later ones end at once.
  void close_all() noexcept;

 private:
  errc no_message(const peer* from) const noexcept;
  void take_back(detail::match_operation& op) noexcept;
  template <class Match>
  bool start_match(detail::match_operation& op, Match match) noexcept;

  runtime::engine& engine_;
  const messenger_settings settings_;
  bool sends_shortly_ = true;
  bool posts_shortly_;
  metrics counts_;
  match_table table_;
  pool<inbound_message> messages_;
  unexpected_memory memory_;
  stream_table streams_;
  call_table calls_;
  region_table regions_;
  group_table groups_{*this};
  peer_upkeep upkeep_;
  peer_registry peers_;
  bool ending_ = false;  // begin_end was called
  bool closed_ = false;  // close_all was called
  connector* connector_ = nullptr;
  scheme_cost_table costs_;
};

}  // namespace weft::proto
