// SPDX-License-Identifier: Apache-2.0
// What a contact says. docs/wire-format.md, "Contact".
#pragma once

#include <optional>

#include <weft/contact.hpp>

#include "wireup/identity.hpp"
#include "wireup/job_key.hpp"
#include "wireup/locator.hpp"

namespace weft::wireup {

/// A context that expects nobody but those who have its contact.
struct known_place {
  context_id id;  ///< its socket's name has the same digits
  locator where;
  job_key key;  ///< of exactly contact_key_bytes
};

inline constexpr std::size_t contact_key_bytes = 16;

/// Places beyond what a contact has room for are left out; all have one port.
contact pack(const known_place& p);
/// Nothing, if the bytes are no contact of this version.
std::optional<known_place> unpack(const contact& c);

}  // namespace weft::wireup
