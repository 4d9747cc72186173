// SPDX-License-Identifier: Apache-2.0
// How the two ends of a connection prove to each other that they are the ends of a channel of the
// control plane. docs/wire-format.md, "TCP".
#pragma once

#include "net/tls/stream.hpp"
#include "transports/tcp/wire.hpp"

namespace weft::transports::tcp {

/// The key by which both ends of an encrypted connection know each other.
net::tls::key key_of(const counterpart& who, const token& of_offer) noexcept;

// The other connections:

/// \throws weft::error when no random bytes are available
client_hello make_client_hello(const token& of_offer);

/// For the side that made the offer. \throws weft::error when no random bytes are available
welcome make_welcome(const counterpart& who, const client_hello& said);
bool is_proven(const counterpart& who, const client_hello& said, const welcome& answer) noexcept;

/// For the side that connected.
confirmation confirm(const counterpart& who, const client_hello& said,
                     const welcome& answer) noexcept;
bool is_confirmed(const counterpart& who, const client_hello& said, const welcome& answer,
                  const confirmation& shown) noexcept;

}  // namespace weft::transports::tcp
