// SPDX-License-Identifier: Apache-2.0
#include "runtime/descriptors/rights.hpp"

namespace weft::runtime {

bool let_descriptors_in(int socket, bool wanted) noexcept {
  constexpr int so_passrights = 83;  // the headers may be older
  const int value = wanted ? 1 : 0;
  return ::setsockopt(socket, SOL_SOCKET, so_passrights, &value, sizeof value) == 0;
}

}  // namespace weft::runtime
