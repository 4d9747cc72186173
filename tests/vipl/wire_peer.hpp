// SPDX-License-Identifier: Apache-2.0
// What a test needs to be the peer of a NIC with weft's own calls, in the format of wire.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bindings/vipl/wire.hpp"

/// Where a NIC of this user waits for requests to the discriminator, without a job key.
std::string address_of_listener(std::string_view discriminator);

/// Of a VI of the peer, for a connection at that reliability level.
weft::vipl::introduction introduction_of_peer(std::uint16_t level);

/// The private data of the peer's connection request.
std::string request_of_peer(std::uint16_t level);
