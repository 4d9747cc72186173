// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <functional>

#include "collectives/algorithms/data.hpp"

namespace weft::collectives {

void check_apart(kind what, const_buffer part, const_buffer other, const std::byte* in_place) {
  constexpr std::less<const std::byte*> before;
  const std::byte *const a = part.data(), *const b = other.data();
  const bool overlap =
      !part.empty() && !other.empty() && before(a, b + other.size()) && before(b, a + part.size());
  if (!overlap || (in_place && a == in_place)) return;
  throw error(errc::invalid_argument,
              fmt::format("the ranges of {} overlap: {}", name_of(what),
                          in_place ? "only this rank's own part may lie in the other range, in its "
                                     "place"
                                   : "give it two ranges"));
}

}  // namespace weft::collectives
