// SPDX-License-Identifier: Apache-2.0
// What a contact says. docs/wire-format.md, "Contact".
#pragma once

#include <optional>

#include <weft/context_address.hpp>

#include "wireup/identity.hpp"
#include "wireup/job_key.hpp"
#include "wireup/locator.hpp"

namespace weft::wireup {

/// A context that expects nobody but those who have its contact.
struct unpacked_address {
  context_id id;  ///< its socket's name has the same digits
  locator where;
  job_key key;  ///< of exactly context_address_key_bytes
};

inline constexpr std::size_t context_address_key_bytes = 16;

/// Places beyond what a contact has room for are left out; all have one port.
context_address pack(const unpacked_address& p);
/// Nothing, if the bytes are no contact of this version.
std::optional<unpacked_address> unpack(const context_address& c);

}  // namespace weft::wireup
