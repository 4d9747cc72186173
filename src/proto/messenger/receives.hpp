// SPDX-License-Identifier: Apache-2.0
// Receives and probes of a context.
#pragma once

#include <optional>

#include <weft/claim.hpp>
#include <weft/operations/messages.hpp>

#include "proto/services/services.hpp"

namespace weft::proto {

class peer;
class peer_registry;

/// Begins receives and probes, takes them back, and takes unexpected messages. Owned by the
/// messenger. Functions that say "any thread" take the progress lock themselves; for the others it
/// must be held.
class receives {
 public:
  /// \param peers knows of peers that have gone how they ended; used after the constructor
  receives(const protocol_services& s, const peer_registry& peers) noexcept
      : services_(s), peers_(peers) {}

  bool start(probe_operation& op) noexcept;             ///< any thread
  void cancel(detail::match_operation& op) noexcept;    ///< any thread
  bool withdraw(detail::match_operation& op) noexcept;  ///< any thread
  bool start_held(recv_operation& op) noexcept;
  bool start_held(probe_operation& op) noexcept;
  /// \param claimed null afterwards; if null before, the message is no longer there
  static bool start_held(claimed_operation& op, inbound_message*& claimed) noexcept;
  /// Whether a receive of it would end as it starts.
  static bool ends_at_once(const inbound_message* claimed) noexcept;
  /// Any thread.
  std::optional<received> try_probe(peer* from, tag_mask tag) noexcept;
  /// Any thread.
  std::optional<claimed_message> try_claim(peer* from, tag_mask tag) noexcept;
  /// As receiver::discard. Any thread.
  void discard(inbound_message& claimed, bool used = false) noexcept;

  /// The context ends, and no peer is left: so do the receives that wait, and later ones.
  void close() noexcept;

 private:
  errc no_message(const peer* from) const noexcept;
  void take_back(detail::match_operation& op) noexcept;
  template <class Match>
  bool start_match(detail::match_operation& op, Match match) noexcept;

  const protocol_services& services_;
  const peer_registry& peers_;
  bool closed_ = false;
};

}  // namespace weft::proto
