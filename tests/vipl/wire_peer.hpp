// SPDX-License-Identifier: Apache-2.0
// What a test needs to be the peer of a NIC with weft's own calls, in the format of wire.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Where a NIC of this user waits for requests to the discriminator, without a job key.
std::string address_of_listener(std::string_view discriminator);

/// The private data of a connection request from a VI of the peer, at that reliability level.
std::string request_of_peer(std::uint16_t level);
