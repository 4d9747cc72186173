// SPDX-License-Identifier: Apache-2.0
#include <weft/context_address.hpp>

#include "api/core/core.hpp"
#include "wireup/auth/context_address.hpp"

namespace weft {

bool is_context_address(const context_address& c) noexcept {
  try {
    return wireup::unpack(c).has_value();
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::string describe(const context_address& c) {
  const auto place = wireup::unpack(c);
  return place ? wireup::to_text(place->where) : "no context address";
}

context_address context_address_of(const context& c) {
  detail::core& at = detail::core_of(c);
  if (!at.chosen().standalone)
    throw error(
        errc::invalid_argument,
        "a context of a job has no context address: its peers know it by rank; open it with "
        "options::standalone");
  const wireup::identity& self = at.manager().self();
  return wireup::pack({self.id, *wireup::parse_locator(self.locator), at.job()->key()});
}

endpoint peer_at(context& c, const context_address& where) {
  const auto place = wireup::unpack(where);
  if (!place)
    throw error(errc::invalid_argument,
                "these bytes are no context address, or one of another version");
  return detail::internals::endpoint_of(detail::core_of(c).connections().peer_at(*place));
}

}  // namespace weft
