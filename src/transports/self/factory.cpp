// SPDX-License-Identifier: Apache-2.0
#include "transports/self/factory.hpp"

#include "transports/self/transport.hpp"

namespace weft::transports::self {

std::unique_ptr<transport> make(services& engine) {
  return std::make_unique<self_transport>(engine);
}

factory kind() {
  return {"self", [](services& e, const options&, std::string&) { return make(e); }};
}

}  // namespace weft::transports::self
