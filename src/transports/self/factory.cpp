// SPDX-License-Identifier: Apache-2.0
#include "transports/self/factory.hpp"

#include "transports/self/transport.hpp"

namespace weft::transports::self {

std::unique_ptr<transport> make(runtime::engine& engine) {
  return std::make_unique<self_transport>(engine);
}

}  // namespace weft::transports::self
