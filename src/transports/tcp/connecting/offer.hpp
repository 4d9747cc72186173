// SPDX-License-Identifier: Apache-2.0
// The offer of a direction of a connection: its bytes, and which of its addresses count.
#pragma once

#include <string>
#include <vector>

#include <weft/transport/transport.hpp>

#include "transports/tcp/address.hpp"
#include "transports/tcp/wire.hpp"

namespace weft::transports::tcp {

/// A value: what one side says when it wants to send.
struct offer {
  token shown{};                       ///< what a client has to show there
  std::vector<offered_address> where;  ///< where the sender listens
  net::tls::stance encryption{};

  /// The direction uses the connection that the two have, or are making, already.
  bool joins() const noexcept { return where.empty(); }
};

void write(const offer& o, wireup_message& to);

/// \return what is wrong with the bytes, for the peer; empty: nothing
std::string read(const wireup_message& from, offer& into);

/// \return those addresses of the peer's host that this process knows from other sources: others
/// would let the peer learn about hosts that it cannot reach itself
std::vector<address> plausible_addresses(const offer& o, const counterpart& who);

}  // namespace weft::transports::tcp
