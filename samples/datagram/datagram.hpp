// SPDX-License-Identifier: Apache-2.0
// A transport outside of weft: datagrams over Unix sockets, between the processes of one host.
#pragma once

#include <weft/transport.hpp>

namespace datagram {

/// For options::transport_factories; `options::transports` then names "datagram".
weft::transports::factory kind();

}  // namespace datagram
