// SPDX-License-Identifier: Apache-2.0
// The content of a context address. docs/wire-format.md, "Context address".
#pragma once

#include <optional>

#include <weft/context_address.hpp>

#include "wireup/auth/job_key.hpp"
#include "wireup/base/identity.hpp"
#include "wireup/sockets/locator.hpp"

namespace weft::wireup {

/// A context that only the holders of its context address can connect to.
struct unpacked_address {
  context_id id;  ///< its socket's name has the same digits
  locator where;
  job_key key;  ///< of exactly context_address_key_bytes
};

inline constexpr std::size_t context_address_key_bytes = 16;

/// Places for which a context address has no room are left out. All places have one port.
context_address pack(const unpacked_address& p);
/// Nothing, if the bytes are no context address of this version.
std::optional<unpacked_address> unpack(const context_address& c);

}  // namespace weft::wireup
