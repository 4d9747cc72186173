// SPDX-License-Identifier: Apache-2.0
#include "transports/fake/factory.hpp"

#include "transports/fake/transport.hpp"

namespace weft::transports::fake {

std::unique_ptr<transport> make(world& where, node n, runtime::engine& e) {
  return std::make_unique<fake_transport>(where, n, e);
}

}  // namespace weft::transports::fake
