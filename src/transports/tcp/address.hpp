// SPDX-License-Identifier: Apache-2.0
// Addresses as offers have them, and those of this host that are offered.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "net/address.hpp"
#include "transports/tcp/wire.hpp"

namespace weft::transports::tcp {

using net::address;

/// Nothing if it makes no sense.
std::optional<address> address_of(const offered_address& o) noexcept;
offered_address to_offer(const address& a) noexcept;

/// Addresses of this host that a peer may reach, at most max_addresses: of all interfaces that are
/// up, the loopback only if there is no other; or of the named interfaces.
/// \throws weft::error (invalid_argument) when a named one does not exist, (unsupported) when there
///   is none at all
std::vector<address> own_addresses(const std::vector<std::string>& interfaces);

}  // namespace weft::transports::tcp
