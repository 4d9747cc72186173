// SPDX-License-Identifier: Apache-2.0
#include "transports/fake/factory.hpp"

#include "transports/fake/transport.hpp"

namespace weft::transports::fake {

std::unique_ptr<transport> make(world& where, node n, runtime::engine& e,
                                const std::optional<manner>& how) {
  return std::make_unique<fake_transport>(where, n, e, how ? *how : where.default_manner());
}

}  // namespace weft::transports::fake
