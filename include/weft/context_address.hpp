// SPDX-License-Identifier: Apache-2.0
// context_address: how processes reach each other that no launcher of weft's has brought together.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include <weft/endpoint.hpp>

namespace weft {

class context;

/// Who a context is and where: bytes to be handed on by whatever brings the processes together,
/// such as an MPI's own exchange of addresses, and not to be looked into. On one host it names a
/// Unix socket; for other hosts it holds up to four IPv4 addresses, or one of IPv6, and a secret
/// that only this context's peers may have: a process that has an address can connect, so pass it
/// on as you would a key. docs/wire-format.md has the bytes. A value.
struct context_address {
  std::array<std::byte, 56> bytes{};
  friend bool operator==(const context_address&, const context_address&) = default;
};

/// Whether these bytes are an address of this version.
bool is_context_address(const context_address& c) noexcept;

/// One line for people, without the secret.
std::string describe(const context_address& c);

/// This context's. Any thread.
/// \throws weft::error (invalid_argument) for a context that is not options::standalone
context_address context_address_of(const context& c);

/// The context that has that address, with a number from 2^31 on; the context itself is its rank 0.
/// Connects with the first message, in either direction: it is the same peer if the other side came
/// first, and the same for equal contacts. Any thread; never blocks. \throws weft::error
/// (invalid_argument) when these bytes are no address; std::bad_alloc
endpoint peer_at(context& c, const context_address& where);

}  // namespace weft
