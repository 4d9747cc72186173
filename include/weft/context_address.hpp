// SPDX-License-Identifier: Apache-2.0
// context_address: connects processes that no launcher of weft's has started.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include <weft/endpoint.hpp>

namespace weft {

class context;

/// The identity and the location of a context, as opaque bytes. The application passes them to the
/// other processes, for example by an MPI's own exchange of addresses. For the same host the bytes
/// name a Unix socket; for other hosts they hold up to four IPv4 addresses or one IPv6 address, and
/// a secret. A process that has the bytes can connect, so treat them as a key. docs/wire-format.md
/// has the format. A value.
struct context_address {
  std::array<std::byte, 56> bytes{};
  friend bool operator==(const context_address&, const context_address&) = default;
};

/// Whether these bytes are an address of this version.
bool is_context_address(const context_address& c) noexcept;

/// One line of text, without the secret.
std::string describe(const context_address& c);

/// The address of this context, also of a lane of it. Any thread.
/// \throws weft::error (invalid_argument) for a context that is not options::standalone
context_address context_address_of(const context& c);

/// The endpoint of the context that has that address, of its lane 0, with a number of 2^31 or more;
/// for the address of `c` itself, the endpoint of rank 0. The first message connects, in either
/// direction. Equal addresses give the same peer, also if the other side connected first. Any
/// thread; never blocks. \throws weft::error (invalid_argument) when these bytes are no address;
/// std::bad_alloc
endpoint peer_at(context& c, const context_address& where);

}  // namespace weft
