// SPDX-License-Identifier: Apache-2.0
// How long memory stays registered with devices that need that.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

/// What becomes of a registration that is not in use any more.
enum class registration_caching : std::uint8_t {
  off,     ///< it ends at once
  on,      ///< it stays for the next one who names that memory, or part of it
  bounded  ///< the same within limits; what was not used for longest ends first
};

/// Choices about registered memory. Where they forbid a registration, messages go another way.
struct registration_cache_settings {
  /// Other than off is for programs that tell of memory that they give back:
  /// context::invalidate_registrations.
  registration_caching caching = registration_caching::off;
  std::size_t most_bytes = std::size_t{1} << 30;  ///< in all, used or not; bounded only
  std::size_t most_entries = 4096;                ///< the same
};

}  // namespace weft
