// SPDX-License-Identifier: Apache-2.0
// Settings of the registration cache.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

/// What the cache does with a registration that is no longer in use.
enum class registration_caching : std::uint8_t {
  off,     ///< it ends at once
  on,      ///< it stays for the next operation on that memory, or on a part of it
  bounded  ///< the same within limits; the least recently used one ends first
};

/// Settings of the registration cache. If they forbid a registration, messages go another way.
struct registration_cache_settings {
  /// Values other than off are for programs that call context::invalidate_registrations before they
  /// unmap memory.
  registration_caching caching = registration_caching::off;
  std::size_t most_bytes = std::size_t{1} << 30;  ///< for `bounded`: of all, used or not
  std::size_t most_entries = 4096;                ///< for `bounded`: registrations, used or not
};

}  // namespace weft
