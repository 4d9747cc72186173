// SPDX-License-Identifier: Apache-2.0
// The peers of a context by their numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <weft/error.hpp>
#include <weft/message.hpp>

#include "proto/peer/peer.hpp"
#include "runtime/progress/engine.hpp"

namespace weft::proto {

/// A peer that has ended and that only the registry owns is used for another peer. Objects that
/// still hold its address hold its number as well (detail::peer_name), and find by `why_ended` how
/// it ended, which is kept in one byte. Owned by the messenger. Functions that say "any thread"
/// take the progress lock themselves; for the others it must be held.
class peer_registry {
 public:
  peer_registry(const protocol_services& s, const protocol_tables& t) noexcept
      : services_(s), tables_(t), engine_(s.engine) {}

  /// The peer with that number; made if it is new. Any thread. \throws std::bad_alloc
  std::shared_ptr<peer> at(peer_id id);
  /// The same with the progress lock held. \throws std::bad_alloc
  const std::shared_ptr<peer>& at_held(peer_id id) { return known_or_new(id); }
  /// The same, but null if there is none. Any thread.
  std::shared_ptr<peer> find(peer_id id) const;
  /// Two peers at once, for a barrier, which needs them in every step. To be named with their
  /// numbers: a peer that goes may be another one then. Any thread.
  std::array<peer*, 2> at(peer_id a, peer_id b);
  /// Adds a peer that is known by address, with the next number from `ranks` on. Any thread.
  /// \throws std::bad_alloc, weft::error (unsupported) when all numbers have been given
  std::shared_ptr<peer> add();
  /// Whether a number is that of a rank, or was given to a peer known by address. Any thread.
  bool has_given(peer_id id) const;

  /// Numbers below this one are ranks.
  void reserve_ranks(peer_id ranks) noexcept { first_new_ = ranks; }
  /// Why there is no peer with that number; ok: there is one, or there will be.
  errc why_ended(peer_id id) const noexcept;

  /// Calls `act` for each peer.
  template <class Action>
  void for_each(Action act) const {
    for (const auto& [id, p] : peers_) act(*p);
  }
  template <class Predicate>
  bool any_of(Predicate holds) const {
    for (const auto& [id, p] : peers_)
      if (holds(*p)) return true;
    return false;
  }

  /// What was exchanged with peers that have gone, by the transport that they were met by.
  const std::map<std::string_view, traffic_metrics>& departed() const noexcept { return departed_; }

  /// The context ends: peers that are made from now on get no connection.
  void close() noexcept { closed_ = true; }
  /// Releases all peers and their links, after their end.
  void clear() noexcept {
    peers_.clear();
    free_list_.clear();
  }

 private:
  const std::shared_ptr<peer>& known_or_new(peer_id id);
  std::shared_ptr<peer> make(peer_id id);
  void collect();

  const protocol_services& services_;
  const protocol_tables& tables_;
  runtime::engine& engine_;
  std::unordered_map<peer_id, std::shared_ptr<peer>> peers_;
  std::vector<std::shared_ptr<peer>> free_list_;  // ended, to be used for other peers
  std::size_t collect_at_ = 0;  // the number of peers at which those that have ended are freed
  peer_id first_new_ = peer_id{1} << 31;
  std::vector<std::uint8_t> ends_;  // errc of each number that `add` gave, once it is free
  std::unordered_map<peer_id, std::uint8_t> rank_ends_;  // the errc of ranks that are free
  std::map<std::string_view, traffic_metrics> departed_;
  bool closed_ = false;
};

}  // namespace weft::proto
